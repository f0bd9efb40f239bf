# The sidecar alone: one static program, CA certificates, nothing else.
#
#   docker build --tag evenkeel .
#   docker run --read-only --publish 9790:9790 evenkeel run \
#       --bootstrap broker:9092 --group connect-cluster \
#       --config-topic connect-configs --status-topic connect-status

# Its glibc is the one linked in; any from 2.34 on resolves names without shared libraries.
FROM rust:1-bookworm AS build
WORKDIR /build
COPY . .
# The target is named although it is the builder's own: only then are build scripts and
# macros, which cannot be static, compiled without the flag. A section for each C function
# lets the linker leave out those of OpenSSL and librdkafka that nobody calls.
ENV CFLAGS="-ffunction-sections -fdata-sections"
RUN target="$(rustc --version --verbose | sed -n 's/^host: //p')" \
    && RUSTFLAGS='-C target-feature=+crt-static' \
       cargo build --release --locked --package evenkeel --target "${target}" \
    && install -D "target/${target}/release/evenkeel" /image/usr/bin/evenkeel \
    && install -D --mode=0644 /etc/ssl/certs/ca-certificates.crt \
       /image/etc/ssl/certs/ca-certificates.crt \
    && printf 'hosts: files dns\n' > /image/etc/nsswitch.conf

FROM scratch
COPY --from=build /image/ /
# A number, so that Kubernetes can see that it is not root. The program writes no file, so
# that the root may be read-only.
USER 65532:65532
EXPOSE 9790
# No HEALTHCHECK: there is no shell or client here to ask with. Let the orchestrator ask
# /livez and /readyz; neither lets trouble with Kafka take the worker beside it down.
ENTRYPOINT ["/usr/bin/evenkeel"]
CMD ["run"]
