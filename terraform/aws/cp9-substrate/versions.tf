terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.40"
    }
  }
}

# Credentials, endpoints and the account are those that cp9 proved; nothing here may name others.
provider "aws" {
  region              = var.cp9_region
  allowed_account_ids = [var.cp9_account]

  default_tags {
    tags = var.cp9_tags
  }
}
