package main

import (
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// lab is what every resource gets: the endpoint, the region, the default tags and the file that holds creates.
type lab struct {
	endpoint string
	region   string
	key      string
	tags     map[string]string
	hold     string
}

type labProvider struct{}

func newProvider() provider.Provider { return &labProvider{} }

func (*labProvider) Metadata(_ context.Context, _ provider.MetadataRequest, out *provider.MetadataResponse) {
	out.TypeName = "aws"
}

func (*labProvider) Schema(_ context.Context, _ provider.SchemaRequest, out *provider.SchemaResponse) {
	out.Schema = schema.Schema{
		Attributes: map[string]schema.Attribute{
			"region": schema.StringAttribute{Optional: true},
			// Each create waits, with its thing made and not yet told, while this file is there.
			"hold": schema.StringAttribute{Optional: true},
		},
		Blocks: map[string]schema.Block{
			"default_tags": schema.ListNestedBlock{
				NestedObject: schema.NestedBlockObject{
					Attributes: map[string]schema.Attribute{
						"tags": schema.MapAttribute{Optional: true, ElementType: types.StringType},
					},
				},
			},
		},
	}
}

type settings struct {
	Region      types.String `tfsdk:"region"`
	Hold        types.String `tfsdk:"hold"`
	DefaultTags []struct {
		Tags map[string]string `tfsdk:"tags"`
	} `tfsdk:"default_tags"`
}

func (*labProvider) Configure(ctx context.Context, in provider.ConfigureRequest, out *provider.ConfigureResponse) {
	var config settings
	out.Diagnostics.Append(in.Config.Get(ctx, &config)...)
	if out.Diagnostics.HasError() {
		return
	}
	here := &lab{
		endpoint: os.Getenv("AWS_ENDPOINT_URL"),
		region:   config.Region.ValueString(),
		key:      os.Getenv("AWS_ACCESS_KEY_ID"),
		tags:     map[string]string{},
		hold:     config.Hold.ValueString(),
	}
	if here.region == "" {
		here.region = os.Getenv("AWS_REGION")
	}
	for _, block := range config.DefaultTags {
		for name, value := range block.Tags {
			here.tags[name] = value
		}
	}
	if here.endpoint == "" || here.region == "" || here.key == "" {
		out.Diagnostics.AddError("no endpoint, region or key", "AWS_ENDPOINT_URL, AWS_REGION and AWS_ACCESS_KEY_ID must be set")
		return
	}
	out.ResourceData = here
}

func (*labProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (*labProvider) Resources(context.Context) []func() resource.Resource {
	var all []func() resource.Resource
	for _, kind := range kinds {
		all = append(all, func() resource.Resource { return &labResource{kind: kind} })
	}
	return all
}
