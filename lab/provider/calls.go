package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"time"
)

// refused is an answer that is none.
type refused struct {
	status int
	body   string
}

func (r refused) Error() string { return fmt.Sprintf("%d: %s", r.status, r.body) }

// read finds the tags in an answer, and turns "no such thing" into false.
func read(body string, err error) (map[string]string, bool, error) {
	var no refused
	if errors.As(err, &no) {
		gone := no.status == http.StatusNotFound || strings.Contains(no.body, "NonExistentQueue") || strings.Contains(no.body, "NoSuch") || strings.Contains(no.body, ".NotFound")
		if gone && !strings.Contains(no.body, "NoSuchTagSet") {
			return nil, false, nil
		}
		if gone {
			return map[string]string{}, true, nil
		}
	}
	if err != nil {
		return nil, false, err
	}
	return tagsIn(body), true, nil
}

// tagsIn collects every pair of a Key and the Value after it.
func tagsIn(body string) map[string]string {
	tags := map[string]string{}
	decoder := xml.NewDecoder(strings.NewReader(body))
	element, key := "", ""
	for {
		token, err := decoder.Token()
		if err != nil {
			return tags
		}
		switch token := token.(type) {
		case xml.StartElement:
			element = token.Name.Local
		case xml.EndElement:
			element = ""
		case xml.CharData:
			switch element {
			case "Key", "key":
				key = string(token)
			case "Value", "value":
				tags[key] = string(token)
			}
		}
	}
}

// between is the first text between two others.
func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	found, _, _ := strings.Cut(rest, to)
	return found
}

func (l *lab) query(service, version, action string, values url.Values) (string, error) {
	values.Set("Action", action)
	values.Set("Version", version)
	return l.request(service, http.MethodPost, "/", values.Encode(), "application/x-www-form-urlencoded")
}

func (l *lab) send(service, method, path, body string) (string, error) {
	return l.request(service, method, path, body, "application/xml")
}

func (l *lab) request(service, method, path, body, kind string) (string, error) {
	request, err := http.NewRequest(method, l.endpoint+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	region := l.region
	if service == "iam" {
		region = "us-east-1"
	}
	// An emulator reads the scope and checks no signature.
	day := time.Now().UTC().Format("20060102")
	request.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s/%s/%s/aws4_request, SignedHeaders=host, Signature=0", l.key, day, region, service))
	request.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
	request.Header.Set("Content-Type", kind)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	if answer.StatusCode >= 300 {
		return "", refused{answer.StatusCode, string(text)}
	}
	return string(text), nil
}

func names(tags map[string]string) []string {
	var all []string
	for name := range tags {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}

func withTags(values url.Values, prefix string, tags map[string]string) url.Values {
	for at, name := range names(tags) {
		values.Set(fmt.Sprintf("%s.%d.Key", prefix, at+1), name)
		values.Set(fmt.Sprintf("%s.%d.Value", prefix, at+1), tags[name])
	}
	return values
}

func withList(values url.Values, prefix string, all []string) url.Values {
	for at, one := range all {
		values.Set(fmt.Sprintf("%s.%d", prefix, at+1), one)
	}
	return values
}

func tagging(tags map[string]string) string {
	type tag struct{ Key, Value string }
	var all struct {
		XMLName xml.Name `xml:"Tagging"`
		Tags    []tag    `xml:"TagSet>Tag"`
	}
	for _, name := range names(tags) {
		all.Tags = append(all.Tags, tag{name, tags[name]})
	}
	text, err := xml.Marshal(all)
	if err != nil {
		return ""
	}
	return string(text)
}
