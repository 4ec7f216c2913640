# Version 9 looks for the newer configuration alone, unless it is told not to.
if ls .eslintrc* >/dev/null 2>&1 && ! ls eslint.config.* >/dev/null 2>&1; then
    export ESLINT_USE_FLAT_CONFIG=false
fi
# Before version 5, ESLint does not say of which kind a rule is, and knows no such format.
eslint --format=json-with-metadata --output-file=/out/eslint.json "$@"
code=$?
[ -s /out/eslint.json ] && exit $code
case $(eslint --version) in
v[0-4].*) ;;
*) exit $code ;;
esac
eslint --format=json "$@" >/tmp/eslint.json
code=$?
if [ -s /tmp/eslint.json ]; then
    printf '{"results": %s}' "$(cat /tmp/eslint.json)" >/out/eslint.json
fi
exit $code
