output "iam_role_arn" {
  description = "The role that services and the Crossplane provider assume."
  value       = one(aws_iam_role.services[*].arn)
}

output "iam_role_name" {
  description = "The same by name."
  value       = one(aws_iam_role.services[*].name)
}

output "metadb_endpoint" {
  description = "Host and port of the metadata database."
  value       = one(aws_db_instance.metadb[*].endpoint)
}

output "metadb_secret_arn" {
  description = "Where AWS keeps the metadb's user and password."
  value       = try(aws_db_instance.metadb[0].master_user_secret[0].secret_arn, null)
}

output "secret_arns" {
  description = "The ARN of each secret by its name."
  value       = { for name, secret in aws_secretsmanager_secret.session : name => secret.arn }
}

output "starter_source_image_repositories" {
  description = "The ECR repository of each Starter service that is built from source."
  value       = { for service, repository in aws_ecr_repository.starter : service => repository.repository_url }
}

output "remote_host" {
  description = "The remote host, if the session has one."
  value = one([for host in aws_instance.host : {
    instance_id = host.id
    private_ip  = host.private_ip
    public_ip   = host.public_ip
  }])
}
