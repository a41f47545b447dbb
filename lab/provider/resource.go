package main

import (
	"context"
	"maps"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type labResource struct {
	kind kind
	lab  *lab
}

func (r *labResource) Metadata(_ context.Context, in resource.MetadataRequest, out *resource.MetadataResponse) {
	out.TypeName = in.ProviderTypeName + "_" + r.kind.name
}

func (r *labResource) Schema(_ context.Context, _ resource.SchemaRequest, out *resource.SchemaResponse) {
	kept := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	fixed := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	attributes := map[string]schema.Attribute{
		r.kind.field: schema.StringAttribute{Required: true, PlanModifiers: fixed},
		"id":         schema.StringAttribute{Computed: true, PlanModifiers: kept},
		"arn":        schema.StringAttribute{Computed: true, PlanModifiers: kept},
		"tags":       schema.MapAttribute{Optional: true, ElementType: types.StringType},
		"tags_all":   schema.MapAttribute{Computed: true, ElementType: types.StringType},
	}
	if r.kind.extra != "" {
		attributes[r.kind.extra] = schema.StringAttribute{Required: true, PlanModifiers: fixed}
	}
	out.Schema = schema.Schema{Attributes: attributes}
}

func (r *labResource) Configure(_ context.Context, in resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.lab, _ = in.ProviderData.(*lab)
}

// source is a plan or a state.
type source interface {
	GetAttribute(context.Context, path.Path, any) diag.Diagnostics
}

func text(ctx context.Context, from source, name string) (string, diag.Diagnostics) {
	var value types.String
	found := from.GetAttribute(ctx, path.Root(name), &value)
	return value.ValueString(), found
}

// all is the default tags and the resource's own.
func (r *labResource) all(ctx context.Context, from source) (map[string]string, diag.Diagnostics) {
	tags := maps.Clone(r.lab.tags)
	own := map[string]string{}
	found := from.GetAttribute(ctx, path.Root("tags"), &own)
	maps.Copy(tags, own)
	return tags, found
}

// ModifyPlan makes the tags known before the apply, as the real provider does.
func (r *labResource) ModifyPlan(ctx context.Context, in resource.ModifyPlanRequest, out *resource.ModifyPlanResponse) {
	if in.Plan.Raw.IsNull() || r.lab == nil {
		return
	}
	var own types.Map
	out.Diagnostics.Append(in.Plan.GetAttribute(ctx, path.Root("tags"), &own)...)
	if own.IsUnknown() {
		return
	}
	for _, value := range own.Elements() {
		// Known only when what it names has been made.
		if value.IsUnknown() {
			return
		}
	}
	tags, found := r.all(ctx, in.Plan)
	out.Diagnostics.Append(found...)
	out.Diagnostics.Append(out.Plan.SetAttribute(ctx, path.Root("tags_all"), stringMap(tags))...)
}

func stringMap(tags map[string]string) types.Map {
	values := map[string]attr.Value{}
	for name, value := range tags {
		values[name] = types.StringValue(value)
	}
	return types.MapValueMust(types.StringType, values)
}

func (r *labResource) Create(ctx context.Context, in resource.CreateRequest, out *resource.CreateResponse) {
	name, found := text(ctx, in.Plan, r.kind.field)
	out.Diagnostics.Append(found...)
	extra := ""
	if r.kind.extra != "" {
		extra, found = text(ctx, in.Plan, r.kind.extra)
		out.Diagnostics.Append(found...)
	}
	tags, found := r.all(ctx, in.Plan)
	out.Diagnostics.Append(found...)
	if out.Diagnostics.HasError() {
		return
	}
	// What has no id of its own is known by its name.
	known, err := name, error(nil)
	if r.kind.make != nil {
		known, err = r.kind.make(r.lab, name, tags)
	} else {
		err = r.kind.create(r.lab, name, extra, tags)
	}
	if err != nil {
		out.Diagnostics.AddError("cannot create "+name, err.Error())
		return
	}
	r.wait()
	out.State.Raw = in.Plan.Raw
	out.Diagnostics.Append(out.State.SetAttribute(ctx, path.Root("id"), r.kind.id(r.lab, known))...)
	out.Diagnostics.Append(out.State.SetAttribute(ctx, path.Root("arn"), r.kind.arn(r.lab, known))...)
	out.Diagnostics.Append(out.State.SetAttribute(ctx, path.Root("tags_all"), stringMap(tags))...)
}

// wait holds what was made while the file is there, so that a test can end everything at this point.
func (r *labResource) wait() {
	for r.lab.hold != "" {
		if _, err := os.Stat(r.lab.hold); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (r *labResource) Read(ctx context.Context, in resource.ReadRequest, out *resource.ReadResponse) {
	id, found := text(ctx, in.State, "id")
	out.Diagnostics.Append(found...)
	if out.Diagnostics.HasError() {
		return
	}
	name := r.kind.nameOf(id)
	tags, there, err := r.kind.look(r.lab, name)
	if err != nil {
		out.Diagnostics.AddError("cannot look for "+name, err.Error())
		return
	}
	if !there {
		out.State.RemoveResource(ctx)
		return
	}
	field := name
	if r.kind.fieldOf != nil {
		if field, err = r.kind.fieldOf(r.lab, name); err != nil {
			out.Diagnostics.AddError("cannot look for "+name, err.Error())
			return
		}
	}
	out.Diagnostics.Append(out.State.SetAttribute(ctx, path.Root(r.kind.field), field)...)
	out.Diagnostics.Append(out.State.SetAttribute(ctx, path.Root("arn"), r.kind.arn(r.lab, name))...)
	out.Diagnostics.Append(out.State.SetAttribute(ctx, path.Root("tags_all"), stringMap(tags))...)
	// A thing's own tags are those that it has besides the default ones.
	own := map[string]string{}
	for name, value := range tags {
		if r.lab.tags[name] != value {
			own[name] = value
		}
	}
	before := map[string]string{}
	out.Diagnostics.Append(in.State.GetAttribute(ctx, path.Root("tags"), &before)...)
	if !maps.Equal(before, own) {
		out.Diagnostics.Append(out.State.SetAttribute(ctx, path.Root("tags"), stringMap(own))...)
	}
}

func (r *labResource) Update(ctx context.Context, in resource.UpdateRequest, out *resource.UpdateResponse) {
	id, found := text(ctx, in.State, "id")
	out.Diagnostics.Append(found...)
	name := r.kind.nameOf(id)
	tags, found := r.all(ctx, in.Plan)
	out.Diagnostics.Append(found...)
	before := map[string]string{}
	out.Diagnostics.Append(in.State.GetAttribute(ctx, path.Root("tags_all"), &before)...)
	if out.Diagnostics.HasError() {
		return
	}
	if err := r.retag(name, before, tags); err != nil {
		out.Diagnostics.AddError("cannot tag "+name, err.Error())
		return
	}
	out.State.Raw = in.Plan.Raw
	out.Diagnostics.Append(out.State.SetAttribute(ctx, path.Root("tags_all"), stringMap(tags))...)
}

// retag turns the tags of a thing into others.
func (r *labResource) retag(name string, before, tags map[string]string) error {
	var gone []string
	for _, tag := range names(before) {
		if _, stays := tags[tag]; !stays {
			gone = append(gone, tag)
		}
	}
	if len(gone) > 0 {
		if err := r.kind.untag(r.lab, name, gone, tags); err != nil {
			return err
		}
	}
	if len(tags) == 0 {
		return nil
	}
	return r.kind.tag(r.lab, name, tags)
}

func (r *labResource) Delete(ctx context.Context, in resource.DeleteRequest, out *resource.DeleteResponse) {
	id, found := text(ctx, in.State, "id")
	out.Diagnostics.Append(found...)
	name := r.kind.nameOf(id)
	if _, there, err := r.kind.look(r.lab, name); err == nil && !there {
		return
	}
	if err := r.kind.delete(r.lab, name); err != nil {
		out.Diagnostics.AddError("cannot delete "+name, err.Error())
	}
}

func (r *labResource) ImportState(ctx context.Context, in resource.ImportStateRequest, out *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), in, out)
}
