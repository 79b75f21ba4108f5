#!/bin/sh
# package/Dockerfile without Docker: its FROM, RUN, COPY and ENTRYPOINT, one after the other,
# in folders that debootstrap makes; then a command of the image. As root, with Debian's
# archive; $1 is the folder of all that (1.5 GB), which is kept: the base is made once.
set -eu
cd "$(dirname "$0")/.."
top=$(realpath -m "${1:-build/docker}")
for tool in debootstrap chroot; do
    command -v $tool >/dev/null || { echo "docker: $tool is not here" && exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "docker: only root can change the root folder" && exit 0; }
mkdir -p "$top"
if [ ! -d "$top/base" ]; then
    debootstrap --variant=minbase bookworm "$top/part" >"$top/log" || { tail -n 5 "$top/log" && exit 1; }
    mv "$top/part" "$top/base"
fi

# inside COMMAND: in the stage's folder, with names of machines as here
inside() {
    cp /etc/resolv.conf "$image/etc/resolv.conf"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive chroot "$image" /bin/sh -c "$1"
}

while read -r word rest; do
    case $word in
    FROM)
        image=$top/${rest##* AS }
        case $rest in *' AS '*) ;; *) image=$top/last ;; esac
        case $rest in debian:bookworm-slim*) ;; *) echo "docker: $rest is not debian:bookworm-slim" && exit 1 ;; esac
        rm -rf "$image"
        cp -a "$top/base" "$image"
        mkdir -p "$image/dev" && { [ -c "$image/dev/null" ] || mknod -m 666 "$image/dev/null" c 1 3; }
        ;;
    RUN) inside "$rest" ;;
    COPY)
        from=. to=${rest##* }
        case $rest in --from=*) from=${rest#--from=} from=$top/${from%% *} ;; esac
        what=${rest#--from=* } what=${what%% *}
        mkdir -p "$image$to"
        if [ "$from" = . ]; then
            git ls-files -z "$what" | tar --null -T - -cf - | tar -C "$image$to" -xf -
        else
            # shellcheck disable=SC2086 # a pattern
            cp -r "$from"/${what#/} "$image$to"
        fi
        ;;
    ENTRYPOINT) entry=$(echo "$rest" | tr -d '[]",') ;;
    '#'* | '') ;;
    *) echo "docker: $word is not known here" && exit 1 ;;
    esac
done <package/Dockerfile
inside "$entry simulate bert-large-squad-2xp3.16xlarge" | grep -q 'step time' || { echo "docker: the image does not simulate" && exit 1; }
inside "$entry --version" | grep -q 'data    /usr/share/smsim' || { echo "docker: the image has not its data" && exit 1; }
echo "docker: the image runs, $(du -sm "$image" | cut -f1) MB"
