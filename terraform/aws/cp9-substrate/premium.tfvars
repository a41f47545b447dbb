# Premium Reserved, first step: the role of services and provider. The metadb is a container of the session;
# switch it on here, with its network, where the path needs one in the cloud.

iam = {
  enabled = true
}

metadb = {
  enabled = false
}
