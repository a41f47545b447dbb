// A provider for tests: a few kinds of the AWS provider, made in whatever answers at AWS_ENDPOINT_URL.
// Kinds, attributes and default tags are called as in the real one, so that plans look alike; nothing of it
// is signed, and nobody should use it but the tests.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

// address is the place in the file-system mirror that the tests serve it from.
const address = "example.com/cp9/aws"

func main() {
	options := providerserver.ServeOpts{Address: address}
	if err := providerserver.Serve(context.Background(), newProvider, options); err != nil {
		log.Fatal(err)
	}
}
