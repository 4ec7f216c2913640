# Run reviewbot_npm.mjs. Ends with 127 where Node.js is missing, or older than what that needs: then
# it refuses the option, and ends with 9.
node --test-reporter=tap /reviewbot/reviewbot_npm.mjs "$@"
code=$?
[ $code != 9 ] || exit 127
exit $code
