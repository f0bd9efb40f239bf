# The sidecar alone: one static program, CA certificates, nothing else.
#
#   docker build --tag evenkeel .
#   docker run --read-only --publish 9790:9790 evenkeel run \
#       --bootstrap broker:9092 --group connect-cluster \
#       --config-topic connect-configs --status-topic connect-status
#
# For another processor, `--platform linux/arm64` compiles on the builder's own with Debian's
# cross compiler. Only amd64 was built and run; arm64 is untested.

# Its glibc is the one linked in; any from 2.36 on resolves names without shared libraries
# and relocates itself by packed relocations.
ARG RUST_IMAGE=docker.io/library/rust:1-bookworm
FROM --platform=${BUILDPLATFORM} ${RUST_IMAGE} AS build
ARG TARGETARCH
WORKDIR /build
COPY . .
# A section for each C function lets the linker leave out those of OpenSSL and librdkafka
# that nobody calls. Nothing unwinds through C: what panics in a callback ends the program.
ENV CFLAGS="-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-unwind-tables"
# What no connection to Kafka, no certificate, no key store and no trace needs of OpenSSL: ciphers,
# digests and signatures that neither TLS 1.2 and 1.3 nor PKCS #8 and #12 use; TLS over UDP;
# protocols that ask others about certificates (lists of revoked ones stay); modules, which a
# static program cannot load. A provider keeps all of its algorithms linked, called or not.
ENV OPENSSL_WITHOUT="no-apps no-docs no-argon2 no-aria no-bf no-blake2 no-cast no-gost no-md4 \
no-mdc2 no-ocb no-rc2 no-rc4 no-rmd160 no-siphash no-siv no-sm2 no-sm3 no-sm4 no-whirlpool \
no-dsa no-ec2m no-lms no-ml-dsa no-slh-dsa no-tls-deprecated-ec \
no-dtls no-quic no-srtp no-nextprotoneg no-psk no-srp \
no-cmp no-cms no-ct no-ocsp no-ts no-http \
no-async no-dso no-engine no-thread-pool no-ui-console"
# With crt-static the compiler is told -static, which OpenSSL's configuration takes for a system
# without threads, and leaves all locks out: several connections then corrupt the heap. It is
# the one argument that it must not see. What encrypts is written in assembler, so that the C
# around it may be small; AES-GCM for AVX-512 is written out at length, 0.7 MB beside 0.01 MB
# for AES-NI, and is left out when its script takes the assembler for one that is too old.
RUN printf '%s\n' '#!/bin/sh' 'case "$*" in' \
       './Configure*) for arg; do shift; [ "${arg}" = -static ] || set -- "$@" "${arg}"; done' \
       '  set -- "$@" -Os ${OPENSSL_WITHOUT}' \
       '  export PERL="$0" ;;' \
       '*/aes-gcm-avx512.pl*) export CC="echo GNU assembler version 2.29; :" ;;' \
       'esac' 'exec perl "$@"' > /usr/local/bin/perl-for-openssl \
    && chmod +x /usr/local/bin/perl-for-openssl
ENV OPENSSL_SRC_PERL=/usr/local/bin/perl-for-openssl
# The target is named although it may be the builder's own: only then are build scripts and
# macros, which cannot be static, compiled without these flags. Relocations, one for each
# pointer in the data, take a twentieth of the room when they are packed.
RUN host="$(rustc --version --verbose | sed -n 's/^host: //p')" \
    && case "${TARGETARCH:-native}" in \
         amd64) target=x86_64-unknown-linux-gnu ;; \
         arm64) target=aarch64-unknown-linux-gnu ;; \
         native) target="${host}" ;; \
         *) echo "no build for ${TARGETARCH}" >&2; exit 1 ;; \
       esac \
    && if [ "${target}" != "${host}" ]; then \
         arch="${target%%-*}" \
         && apt-get update && apt-get install -y --no-install-recommends \
            "gcc-$(echo "${arch}" | tr _ -)-linux-gnu" "libc6-dev-${TARGETARCH}-cross" \
         && rustup target add "${target}" \
         && name="$(echo "${target}" | tr a-z- A-Z_)" \
         && export "CARGO_TARGET_${name}_LINKER=${arch}-linux-gnu-gcc"; \
       fi \
    && RUSTFLAGS='-C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs' \
       cargo build --release --locked --package evenkeel --target "${target}" \
    && grep --quiet 'define OPENSSL_THREADS' \
       "target/${target}"/release/build/openssl-sys-*/out/openssl-build/install/include/openssl/configuration.h \
    && install -D "target/${target}/release/evenkeel" /image/usr/bin/evenkeel \
    && install -D --mode=0644 /etc/ssl/certs/ca-certificates.crt \
       /image/etc/ssl/certs/ca-certificates.crt \
    && printf 'hosts: files dns\n' > /image/etc/nsswitch.conf

FROM scratch
COPY --from=build /image/ /
# A number, so that Kubernetes can see that it is not root. The program writes nothing but
# `state.dir`, which needs a volume: the root may be read-only.
USER 65532:65532
EXPOSE 9790
# No HEALTHCHECK: there is no shell or client here to ask with. Let the orchestrator ask
# /livez and /readyz; neither lets trouble with Kafka take the worker beside it down.
ENTRYPOINT ["/usr/bin/evenkeel"]
CMD ["run"]
