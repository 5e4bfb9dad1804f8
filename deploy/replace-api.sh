#!/bin/sh
# Replaces the API's containers by new ones of the current image and settings: starts as many new ones, waits until they
# are ready, directs requests to them, and then stops the old ones, which complete their open requests first.
set -eu
ready_seconds=120

old=$(docker compose ps --quiet api)
if [ -z "$old" ]; then
    echo "No container of the API is running, so there is nothing to replace. Run: docker compose up --detach" >&2
    exit 1
fi
count=$(echo "$old" | grep -c .)
docker compose up --detach --no-deps --no-recreate --scale "api=$((2 * count))" api
if ! new=$(docker compose ps --quiet api | grep -Fxv "$old"); then
    echo "No new container of the API is running; the old ones keep running. Run: docker compose logs --tail 20 api" >&2
    exit 1
fi

waited=0
for container in $new; do
    until [ "$(docker inspect --format '{{.State.Health.Status}}' "$container")" = healthy ]; do
        if [ "$waited" -ge "$ready_seconds" ]; then
            echo "The new containers were not ready within $ready_seconds s. They are removed; the old ones keep running." >&2
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
