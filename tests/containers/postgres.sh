#!/bin/sh
# What docker-compose.yml relies on in the entrypoint of Postgres' official image.
set -eu
data=/var/lib/postgresql/data
as_postgres="setpriv --reuid=postgres --regid=postgres --init-groups"

if [ ! -s "$data/PG_VERSION" ]; then
    chown postgres "$data"
    password=$(mktemp)
    echo "$POSTGRES_PASSWORD" > "$password"
    chown postgres "$password"
    $as_postgres initdb --pgdata="$data" --username="$POSTGRES_USER" --pwfile="$password" $POSTGRES_INITDB_ARGS
    rm "$password"
    echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
    echo "CREATE DATABASE $POSTGRES_DB" | $as_postgres postgres --single -D "$data" postgres
fi
install --directory --owner=postgres /run/postgresql
exec $as_postgres "$@" -D "$data" -clisten_addresses=*
