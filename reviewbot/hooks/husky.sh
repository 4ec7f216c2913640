echo 'reviewbot hook run pre-commit' >> .husky/pre-commit
echo 'reviewbot hook run pre-push -- "$@"' >> .husky/pre-push
