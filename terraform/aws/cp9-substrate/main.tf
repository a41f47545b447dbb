# What one cp9 session needs of AWS, and nothing that outlives it. Everything carries the session's tags through
# `default_tags`, and every name begins with the session's.

data "aws_partition" "here" {}

locals {
  arn = "arn:${data.aws_partition.here.partition}"

  # Names longer than their service takes are cut and closed with a hash, as cp9 does it.
  wanted = {
    role    = { name = "${var.cp9_session}-services", limit = 64 }
    policy  = { name = "${var.cp9_session}-services", limit = 128 }
    host    = { name = "${var.cp9_session}-host", limit = 64 }
    metadb  = { name = "${var.cp9_session}-metadb", limit = 63 }
    subnets = { name = "${var.cp9_session}-metadb", limit = 255 }
  }
  name = {
    for key, want in local.wanted : key => length(want.name) <= want.limit ? want.name : join("-", [
      trimsuffix(substr(want.name, 0, want.limit - 9), "-"), substr(sha256(want.name), 0, 8)
    ])
  }

  # What belongs to this session, as a condition.
  owned = {
    "aws:ResourceTag/cp9-owner"   = var.cp9_owner
    "aws:ResourceTag/cp9-session" = var.cp9_session
  }
  requested = {
    "aws:RequestTag/cp9-owner"   = var.cp9_owner
    "aws:RequestTag/cp9-session" = var.cp9_session
  }

  # Where a service's names begin with the session's.
  prefixed = {
    dynamodb       = ["${local.arn}:dynamodb:${var.cp9_region}:${var.cp9_account}:table/${var.cp9_session}-*"]
    s3             = ["${local.arn}:s3:::${var.cp9_session}-*"]
    secretsmanager = ["${local.arn}:secretsmanager:${var.cp9_region}:${var.cp9_account}:secret:${var.cp9_session}-*"]
    sns            = ["${local.arn}:sns:${var.cp9_region}:${var.cp9_account}:${var.cp9_session}-*"]
    sqs            = ["${local.arn}:sqs:${var.cp9_region}:${var.cp9_account}:${var.cp9_session}-*"]
    ssm            = ["${local.arn}:ssm:${var.cp9_region}:${var.cp9_account}:parameter/${var.cp9_session}/*"]
  }
}

# The role of services and of the Crossplane provider.

data "aws_iam_policy_document" "trust" {
  count = var.iam.enabled ? 1 : 0

  dynamic "statement" {
    for_each = length(var.iam.trusted_principals) > 0 ? [var.iam.trusted_principals] : []

    content {
      actions = ["sts:AssumeRole", "sts:TagSession"]

      principals {
        type        = "AWS"
        identifiers = statement.value
      }
    }
  }

  dynamic "statement" {
    for_each = length(var.iam.trusted_principals) == 0 ? [true] : []

    content {
      actions = ["sts:AssumeRole", "sts:TagSession"]

      principals {
        type        = "AWS"
        identifiers = ["${local.arn}:iam::${var.cp9_account}:root"]
      }

      condition {
        test     = "StringEquals"
        variable = "aws:PrincipalTag/cp9-owner"
        values   = [var.cp9_owner]
      }
    }
  }
}

data "aws_iam_policy_document" "services" {
  count = var.iam.enabled ? 1 : 0

  # By name: the session's own things of services whose names cp9 chooses.
  dynamic "statement" {
    for_each = { for service in var.iam.services : service => local.prefixed[service] }

    content {
      sid       = "Named${replace(title(statement.key), "-", "")}"
      actions   = ["${statement.key}:*"]
      resources = statement.key == "s3" ? concat(statement.value, [for bucket in statement.value : "${bucket}/*"]) : statement.value
    }
  }

  # By tag: made only with the session's tags, and used only where they are.
  statement {
    sid       = "MakeTagged"
    actions   = flatten([for service in var.iam.tagged_services : ["${service}:Create*", "${service}:Run*", "${service}:AddTags*", "${service}:TagResource"]])
    resources = ["*"]

    dynamic "condition" {
      for_each = local.requested

      content {
        test     = "StringEquals"
        variable = condition.key
        values   = [condition.value]
      }
    }
  }

  statement {
    sid       = "UseTagged"
    actions   = [for service in var.iam.tagged_services : "${service}:*"]
    resources = ["*"]

    dynamic "condition" {
      for_each = local.owned

      content {
        test     = "StringEquals"
        variable = condition.key
        values   = [condition.value]
      }
    }
  }

  statement {
    sid       = "Look"
    actions   = concat(["tag:GetResources", "sts:GetCallerIdentity"], flatten([for service in var.iam.tagged_services : ["${service}:Describe*", "${service}:List*"]]))
    resources = ["*"]
  }

  # What marks a thing as the session's stays on it, and no cluster is ever made.
  statement {
    sid       = "KeepTags"
    effect    = "Deny"
    actions   = ["ec2:DeleteTags", "rds:RemoveTagsFromResource", "sqs:UntagQueue", "sns:UntagResource", "dynamodb:UntagResource", "secretsmanager:UntagResource", "ssm:RemoveTagsFromResource", "kms:UntagResource"]
    resources = ["*"]

    condition {
      test     = "ForAnyValue:StringEquals"
      variable = "aws:TagKeys"
      values   = ["cp9-owner", "cp9-session"]
    }
  }

  statement {
    sid       = "NoClusters"
    effect    = "Deny"
    actions   = ["eks:*"]
    resources = ["*"]
  }
}

resource "aws_iam_role" "services" {
  count = var.iam.enabled ? 1 : 0

  name                  = local.name.role
  description           = "Services of cp9 session ${var.cp9_session}"
  assume_role_policy    = data.aws_iam_policy_document.trust[0].json
  permissions_boundary  = var.iam.permissions_boundary
  force_detach_policies = true
}

resource "aws_iam_policy" "services" {
  count = var.iam.enabled ? 1 : 0

  name        = local.name.policy
  description = "What services of cp9 session ${var.cp9_session} may do"
  policy      = data.aws_iam_policy_document.services[0].json
}

resource "aws_iam_role_policy_attachment" "services" {
  count = var.iam.enabled ? 1 : 0

  role       = aws_iam_role.services[0].name
  policy_arn = aws_iam_policy.services[0].arn
}

# The metadata databases. Their schema is cp9's, their password AWS's: it is in no state.

resource "aws_db_subnet_group" "metadb" {
  count = var.metadb.enabled ? 1 : 0

  name       = local.name.subnets
  subnet_ids = var.metadb.subnet_ids
}

resource "aws_security_group" "metadb" {
  count = var.metadb.enabled ? 1 : 0

  name        = "${var.cp9_session}-metadb"
  description = "Metadb of cp9 session ${var.cp9_session}"
  vpc_id      = var.metadb.vpc_id
}

resource "aws_vpc_security_group_ingress_rule" "metadb" {
  for_each = var.metadb.enabled ? toset(var.metadb.allowed_cidr_blocks) : toset([])

  security_group_id = aws_security_group.metadb[0].id
  cidr_ipv4         = each.value
  ip_protocol       = "tcp"
  from_port         = 3306
  to_port           = 3306
}

resource "aws_db_instance" "metadb" {
  count = var.metadb.enabled ? 1 : 0

  identifier                  = local.name.metadb
  engine                      = "mysql"
  engine_version              = var.metadb.engine_version
  instance_class              = var.metadb.instance_class
  allocated_storage           = var.metadb.allocated_storage
  storage_encrypted           = true
  username                    = "cp9"
  manage_master_user_password = true
  db_subnet_group_name        = aws_db_subnet_group.metadb[0].name
  vpc_security_group_ids      = [aws_security_group.metadb[0].id]
  publicly_accessible         = var.metadb.publicly_accessible
  copy_tags_to_snapshot       = true
  # A session leaves nothing behind.
  backup_retention_period  = 0
  delete_automated_backups = true
  deletion_protection      = false
  skip_final_snapshot      = true
}

# Secrets that manifests refer to; empty until the session fills them.

resource "aws_secretsmanager_secret" "session" {
  for_each = var.secrets

  name                    = "${var.cp9_session}-${each.key}"
  description             = each.value.description
  recovery_window_in_days = 0
}

# Image repositories of Starter services that are built from source.

resource "aws_ecr_repository" "starter" {
  for_each = var.starter_source_services

  name         = "${var.cp9_session}/${each.key}"
  force_delete = true
}

# The remote host.

data "aws_ssm_parameter" "ami" {
  count = var.remote_host.enabled && var.remote_host.ami_id == null ? 1 : 0

  name = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-${var.remote_host.architecture}"
}

data "aws_iam_policy_document" "host" {
  count = var.remote_host.enabled ? 1 : 0

  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "host" {
  count = var.remote_host.enabled ? 1 : 0

  name                  = local.name.host
  description           = "Host of cp9 session ${var.cp9_session}"
  assume_role_policy    = data.aws_iam_policy_document.host[0].json
  permissions_boundary  = var.iam.permissions_boundary
  force_detach_policies = true
}

resource "aws_iam_role_policy_attachment" "host_ssm" {
  count = var.remote_host.enabled ? 1 : 0

  role       = aws_iam_role.host[0].name
  policy_arn = "${local.arn}:iam::aws:policy/AmazonSSMManagedInstanceCore"
}

resource "aws_iam_role_policy_attachment" "host_services" {
  count = var.remote_host.enabled && var.iam.enabled ? 1 : 0

  role       = aws_iam_role.host[0].name
  policy_arn = aws_iam_policy.services[0].arn
}

resource "aws_iam_instance_profile" "host" {
  count = var.remote_host.enabled ? 1 : 0

  name = local.name.host
  role = aws_iam_role.host[0].name
}

resource "aws_security_group" "host" {
  count = var.remote_host.enabled ? 1 : 0

  name        = "${var.cp9_session}-host"
  description = "Host of cp9 session ${var.cp9_session}"
  vpc_id      = var.remote_host.vpc_id
}

resource "aws_vpc_security_group_ingress_rule" "host_ssh" {
  for_each = var.remote_host.enabled ? toset(var.remote_host.allowed_cidr_blocks) : toset([])

  security_group_id = aws_security_group.host[0].id
  cidr_ipv4         = each.value
  ip_protocol       = "tcp"
  from_port         = 22
  to_port           = 22
}

resource "aws_vpc_security_group_egress_rule" "host" {
  count = var.remote_host.enabled ? 1 : 0

  security_group_id = aws_security_group.host[0].id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
}

resource "aws_instance" "host" {
  count = var.remote_host.enabled ? 1 : 0

  ami                                  = var.remote_host.ami_id != null ? var.remote_host.ami_id : data.aws_ssm_parameter.ami[0].insecure_value
  instance_type                        = var.remote_host.instance_type
  subnet_id                            = var.remote_host.subnet_id
  vpc_security_group_ids               = [aws_security_group.host[0].id]
  iam_instance_profile                 = aws_iam_instance_profile.host[0].name
  user_data                            = var.remote_host.user_data
  instance_initiated_shutdown_behavior = "terminate"
  # Default tags do not reach the volumes.
  volume_tags = var.cp9_tags

  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 2
  }

  root_block_device {
    encrypted   = true
    volume_size = var.remote_host.root_volume_gib
    volume_type = "gp3"
  }

  tags = {
    Name = "${var.cp9_session}-host"
  }
}
