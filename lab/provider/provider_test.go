package main

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// recorded is an endpoint that says yes, and what it was asked.
func recorded(t *testing.T) (*lab, *[]string) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		values, _ := url.ParseQuery(string(body))
		line := r.Method + " " + r.URL.String()
		if action := values.Get("Action"); action != "" {
			line = action
			for _, key := range slices.Sorted(maps.Keys(values)) {
				if strings.HasPrefix(key, "Tag") {
					line += " " + key + "=" + values.Get(key)
				}
			}
		}
		asked = append(asked, line)
	}))
	t.Cleanup(server.Close)
	return &lab{endpoint: server.URL, region: "us-west-2", key: "AKIA"}, &asked
}

func kindOf(t *testing.T, name string) kind {
	for _, kind := range kinds {
		if kind.name == name {
			return kind
		}
	}
	t.Fatalf("no kind %s", name)
	return kind{}
}

func TestTagsThatGoAreTakenAway(t *testing.T) {
	lab, asked := recorded(t)
	before := map[string]string{"old": "1", "kept": "1"}
	after := map[string]string{"kept": "2", "new": "1"}
	for _, name := range []string{"sqs_queue", "iam_role", "s3_bucket"} {
		one := labResource{kind: kindOf(t, name), lab: lab}
		if err := one.retag("thing", before, after); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"UntagQueue TagKey.1=old",
		"TagQueue Tag.1.Key=kept Tag.1.Value=2 Tag.2.Key=new Tag.2.Value=1",
		"UntagRole TagKeys.member.1=old",
		"TagRole Tags.member.1.Key=kept Tags.member.1.Value=2 Tags.member.2.Key=new Tags.member.2.Value=1",
		"PUT /thing?tagging",
		"PUT /thing?tagging",
	}
	if !slices.Equal(*asked, want) {
		t.Fatalf("asked %q", *asked)
	}
}

func TestAbsenceIsToldFromAnError(t *testing.T) {
	cases := []struct {
		answer refused
		there  bool
		fails  bool
	}{
		{refused{404, "<Code>NoSuchBucket</Code>"}, false, false},
		{refused{404, "<Code>NoSuchTagSet</Code>"}, true, false},
		{refused{400, "AWS.SimpleQueueService.NonExistentQueue"}, false, false},
		{refused{403, "<Code>AccessDenied</Code>"}, false, true},
	}
	for _, one := range cases {
		_, there, err := read("", one.answer)
		if there != one.there || (err != nil) != one.fails {
			t.Errorf("%v: there %v, error %v", one.answer, there, err)
		}
	}
	tags, there, err := read("<T><Tag><Key>a</Key><Value>1</Value></Tag></T>", nil)
	if err != nil || !there || !maps.Equal(tags, map[string]string{"a": "1"}) {
		t.Errorf("%v %v %v", tags, there, err)
	}
}

func TestEveryKindHasAValidSchemaAndAName(t *testing.T) {
	if len((&labProvider{}).Resources(context.Background())) != len(kinds) {
		t.Fatal("a kind is not served")
	}
	var schema provider.SchemaResponse
	(&labProvider{}).Schema(context.Background(), provider.SchemaRequest{}, &schema)
	if found := schema.Schema.ValidateImplementation(context.Background()); found.HasError() {
		t.Fatal(found)
	}
	for _, kind := range kinds {
		one := &labResource{kind: kind}
		var out resource.SchemaResponse
		one.Schema(context.Background(), resource.SchemaRequest{}, &out)
		if found := out.Schema.ValidateImplementation(context.Background()); found.HasError() {
			t.Errorf("%s: %v", kind.name, found)
		}
		here := &lab{endpoint: "http://127.0.0.1:1", region: "us-west-2"}
		if got := kind.nameOf(kind.id(here, "thing")); got != "thing" {
			t.Errorf("%s: the id names %s", kind.name, got)
		}
	}
}
