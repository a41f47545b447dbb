# Given by cp9 for every session; no var file may set them.

variable "cp9_account" {
  description = "The proven AWS account."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.cp9_account))
    error_message = "An account has twelve digits."
  }
}

variable "cp9_owner" {
  description = "Who the session belongs to."
  type        = string
}

variable "cp9_region" {
  description = "The proven region."
  type        = string
}

variable "cp9_session" {
  description = "The session's name, with which every name begins."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}[a-z0-9]$", var.cp9_session))
    error_message = "A session name has 3 to 32 lower-case letters, digits and inner hyphens."
  }
}

variable "cp9_tags" {
  description = "The tags that every resource carries: cp9-owner, cp9-session, cp9-managed, cp9-ttl."
  type        = map(string)

  validation {
    condition     = alltrue([for key in ["cp9-owner", "cp9-session", "cp9-managed", "cp9-ttl"] : contains(keys(var.cp9_tags), key)])
    error_message = "All of cp9-owner, cp9-session, cp9-managed and cp9-ttl are needed."
  }
}

# Chosen by a persona's var file.

variable "iam" {
  description = "The role of the session's services and of the Crossplane provider."
  type = object({
    enabled              = optional(bool, true)
    permissions_boundary = optional(string)
    # Who may assume the role; by default whoever of the account carries the owner as principal tag.
    trusted_principals = optional(list(string), [])
    # The services in which the session's own things may be made, used and deleted.
    services = optional(list(string), ["dynamodb", "s3", "secretsmanager", "sns", "sqs", "ssm"])
    # Services whose resources know tags but whose names do not begin with the session's.
    tagged_services = optional(list(string), ["ec2", "elasticloadbalancing", "kms", "rds"])
  })
  default = {}
}

variable "metadb" {
  description = "A MySQL instance for the session's metadata databases."
  type = object({
    enabled             = optional(bool, false)
    engine_version      = optional(string, "8.0")
    instance_class      = optional(string, "db.t4g.medium")
    allocated_storage   = optional(number, 20)
    vpc_id              = optional(string)
    subnet_ids          = optional(list(string), [])
    allowed_cidr_blocks = optional(list(string), [])
    publicly_accessible = optional(bool, false)
  })
  default = {}

  validation {
    condition     = !var.metadb.enabled || (var.metadb.vpc_id != null && length(var.metadb.subnet_ids) >= 2)
    error_message = "An enabled metadb needs `vpc_id` and at least two `subnet_ids`."
  }
}

variable "secrets" {
  description = "Secrets that services refer to, by name; their values are put in by the session, never by Terraform."
  type        = map(object({ description = optional(string, "") }))
  default     = {}
}

variable "starter_source_services" {
  description = "Starter services that are built from source, one image repository each."
  type        = set(string)
  default     = []
}

variable "remote_host" {
  description = "An EC2 instance that carries the session's cluster, for `host.mode: remote-ec2-k3d`."
  type = object({
    enabled             = optional(bool, false)
    instance_type       = optional(string, "m7g.2xlarge")
    ami_id              = optional(string)
    architecture        = optional(string, "arm64")
    root_volume_gib     = optional(number, 100)
    vpc_id              = optional(string)
    subnet_id           = optional(string)
    allowed_cidr_blocks = optional(list(string), [])
    user_data           = optional(string)
  })
  default = {}

  validation {
    condition     = !var.remote_host.enabled || (var.remote_host.vpc_id != null && var.remote_host.subnet_id != null)
    error_message = "An enabled remote host needs `vpc_id` and `subnet_id`."
  }
}
