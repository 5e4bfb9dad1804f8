#!/bin/sh
# Replaces the API's containers by new ones of the present image and settings, one after the other: starts as many new
# ones, waits until they are ready, leads requests to them, and then stops the old ones, which complete what is open.
set -eu
ready_seconds=120

old=$(docker compose ps --quiet api)
count=$(echo "$old" | grep -c .)
docker compose up --detach --no-deps --no-recreate --scale "api=$((2 * count))" api
new=$(docker compose ps --quiet api | grep -Fxv "$old")

waited=0
for container in $new; do
    until [ "$(docker inspect --format '{{.State.Health.Status}}' "$container")" = healthy ]; do
        if [ "$waited" -ge "$ready_seconds" ]; then
            echo "The new containers are not ready after $ready_seconds s. They are removed, and the old ones go on." >&2
            docker logs --tail 20 "$container" >&2
            docker rm --force $new
            exit 1
        fi
        sleep 1
        waited=$((waited + 1))
    done
done

addresses=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}' $old)
docker compose exec -T front sh /front.sh leave $addresses
docker stop --time 30 $old
docker rm $old
