package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// kind is one type of resource: how it is called, and how it is made, looked for and deleted.
type kind struct {
	name string
	// field is the attribute that holds the name of the thing.
	field string
	// extra is one more required attribute, if any.
	extra string
	// id and arn of a thing by its name.
	id  func(*lab, string) string
	arn func(*lab, string) string
	// nameOf is the inverse of id.
	nameOf func(string) string
	create func(l *lab, name, extra string, tags map[string]string) error
	// look tells the tags of a thing, and whether there is one.
	look   func(*lab, string) (map[string]string, bool, error)
	delete func(*lab, string) error
	// tag sets tags; untag takes some away, with those that stay.
	tag   func(l *lab, name string, tags map[string]string) error
	untag func(l *lab, name string, gone []string, stay map[string]string) error
	// make is create for what the cloud itself gives an id: from then on that id stands for the name.
	make func(l *lab, field string, tags map[string]string) (id string, err error)
	// fieldOf is the attribute of such a thing.
	fieldOf func(l *lab, id string) (string, error)
}

const account = "123456789012"

func same(_ *lab, name string) string { return name }
func plain(id string) string          { return id }

const ec2 = "2016-11-15"

func describeVpc(l *lab, id string) (string, error) {
	return l.query("ec2", ec2, "DescribeVpcs", url.Values{"VpcId.1": {id}})
}

func tagBucket(l *lab, name string, tags map[string]string) error {
	_, err := l.send("s3", http.MethodPut, "/"+name+"?tagging", tagging(tags))
	return err
}

var kinds = []kind{
	{
		name: "sqs_queue", field: "name",
		id: func(l *lab, name string) string { return l.endpoint + "/" + account + "/" + name },
		arn: func(l *lab, name string) string {
			return fmt.Sprintf("arn:aws:sqs:%s:%s:%s", l.region, account, name)
		},
		nameOf: func(id string) string { return id[strings.LastIndex(id, "/")+1:] },
		create: func(l *lab, name, _ string, tags map[string]string) error {
			_, err := l.query("sqs", "2012-11-05", "CreateQueue", withTags(url.Values{"QueueName": {name}}, "Tag", tags))
			return err
		},
		look: func(l *lab, name string) (map[string]string, bool, error) {
			address := l.endpoint + "/" + account + "/" + name
			return read(l.query("sqs", "2012-11-05", "ListQueueTags", url.Values{"QueueUrl": {address}}))
		},
		delete: func(l *lab, name string) error {
			address := l.endpoint + "/" + account + "/" + name
			_, err := l.query("sqs", "2012-11-05", "DeleteQueue", url.Values{"QueueUrl": {address}})
			return err
		},
		tag: func(l *lab, name string, tags map[string]string) error {
			values := url.Values{"QueueUrl": {l.endpoint + "/" + account + "/" + name}}
			_, err := l.query("sqs", "2012-11-05", "TagQueue", withTags(values, "Tag", tags))
			return err
		},
		untag: func(l *lab, name string, gone []string, _ map[string]string) error {
			values := url.Values{"QueueUrl": {l.endpoint + "/" + account + "/" + name}}
			_, err := l.query("sqs", "2012-11-05", "UntagQueue", withList(values, "TagKey", gone))
			return err
		},
	},
	{
		name: "iam_role", field: "name", extra: "assume_role_policy",
		id: same, nameOf: plain,
		arn: func(_ *lab, name string) string { return "arn:aws:iam::" + account + ":role/" + name },
		create: func(l *lab, name, policy string, tags map[string]string) error {
			values := url.Values{"RoleName": {name}, "AssumeRolePolicyDocument": {policy}}
			_, err := l.query("iam", "2010-05-08", "CreateRole", withTags(values, "Tags.member", tags))
			return err
		},
		look: func(l *lab, name string) (map[string]string, bool, error) {
			return read(l.query("iam", "2010-05-08", "ListRoleTags", url.Values{"RoleName": {name}}))
		},
		delete: func(l *lab, name string) error {
			_, err := l.query("iam", "2010-05-08", "DeleteRole", url.Values{"RoleName": {name}})
			return err
		},
		tag: func(l *lab, name string, tags map[string]string) error {
			_, err := l.query("iam", "2010-05-08", "TagRole", withTags(url.Values{"RoleName": {name}}, "Tags.member", tags))
			return err
		},
		untag: func(l *lab, name string, gone []string, _ map[string]string) error {
			values := withList(url.Values{"RoleName": {name}}, "TagKeys.member", gone)
			_, err := l.query("iam", "2010-05-08", "UntagRole", values)
			return err
		},
	},
	{
		name: "s3_bucket", field: "bucket",
		id: same, nameOf: plain,
		arn: func(_ *lab, name string) string { return "arn:aws:s3:::" + name },
		create: func(l *lab, name, _ string, tags map[string]string) error {
			place := ""
			// The one region that must not be named.
			if l.region != "us-east-1" {
				place = "<CreateBucketConfiguration><LocationConstraint>" + l.region + "</LocationConstraint></CreateBucketConfiguration>"
			}
			if _, err := l.send("s3", http.MethodPut, "/"+name, place); err != nil {
				return err
			}
			return tagBucket(l, name, tags)
		},
		look: func(l *lab, name string) (map[string]string, bool, error) {
			return read(l.send("s3", http.MethodGet, "/"+name+"?tagging", ""))
		},
		delete: func(l *lab, name string) error {
			_, err := l.send("s3", http.MethodDelete, "/"+name, "")
			return err
		},
		// One call sets all, and so takes away what it does not name.
		tag:   tagBucket,
		untag: func(l *lab, name string, _ []string, stay map[string]string) error { return tagBucket(l, name, stay) },
	},
	{
		name: "vpc", field: "cidr_block",
		id: same, nameOf: plain,
		arn: func(l *lab, id string) string { return "arn:aws:ec2:" + l.region + ":" + account + ":vpc/" + id },
		make: func(l *lab, block string, tags map[string]string) (string, error) {
			values := url.Values{"CidrBlock": {block}, "TagSpecification.1.ResourceType": {"vpc"}}
			body, err := l.query("ec2", ec2, "CreateVpc", withTags(values, "TagSpecification.1.Tag", tags))
			return between(body, "<vpcId>", "</vpcId>"), err
		},
		fieldOf: func(l *lab, id string) (string, error) {
			body, err := describeVpc(l, id)
			return between(body, "<cidrBlock>", "</cidrBlock>"), err
		},
		look: func(l *lab, id string) (map[string]string, bool, error) { return read(describeVpc(l, id)) },
		delete: func(l *lab, id string) error {
			_, err := l.query("ec2", ec2, "DeleteVpc", url.Values{"VpcId": {id}})
			return err
		},
		tag: func(l *lab, id string, tags map[string]string) error {
			_, err := l.query("ec2", ec2, "CreateTags", withTags(url.Values{"ResourceId.1": {id}}, "Tag", tags))
			return err
		},
		untag: func(l *lab, id string, gone []string, _ map[string]string) error {
			values := url.Values{"ResourceId.1": {id}}
			for at, key := range gone {
				values.Set(fmt.Sprintf("Tag.%d.Key", at+1), key)
			}
			_, err := l.query("ec2", ec2, "DeleteTags", values)
			return err
		},
	},
	{
		name: "eks_cluster", field: "name",
		id: same, nameOf: plain,
		arn: func(l *lab, name string) string {
			return "arn:aws:eks:" + l.region + ":" + account + ":cluster/" + name
		},
		create: func(*lab, string, string, map[string]string) error { return errors.New("the lab makes no clusters") },
		look:   func(*lab, string) (map[string]string, bool, error) { return nil, false, nil },
		delete: func(*lab, string) error { return nil },
		tag:    func(*lab, string, map[string]string) error { return nil },
		untag:  func(*lab, string, []string, map[string]string) error { return nil },
	},
}
