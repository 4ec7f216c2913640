# A configuration with references reads no file itself, and building writes beside the sources.
mode=--noEmit
! grep -q '"references"' tsconfig.json || mode=--build
exec tsc "$mode" --pretty false --listFiles
