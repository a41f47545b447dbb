# Everything of a control plane on a remote host, with Starter services built from source. The network is the
# team's: fill in `vpc_id` and `subnet_id`, then set `enabled`.

iam = {
  enabled = true
}

metadb = {
  enabled = false
}

secrets = {
  "service-tokens" = {
    description = "Tokens of the session's services"
  }
}

starter_source_services = ["serverless-cluster-manager", "serverless-gateway"]

remote_host = {
  enabled       = false
  instance_type = "m7g.2xlarge"
}
