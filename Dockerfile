FROM python:3.11-slim AS docs
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 NO_MKDOCS_2_WARNING=1
WORKDIR /app
COPY requirements-docs.lock ./
RUN pip install --root-user-action=ignore --require-hashes --no-deps --requirement requirements-docs.lock
COPY mkdocs.yml mkdocs_hooks.py ./
COPY docs docs
RUN mkdocs build --quiet --strict

FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
RUN python -m venv --without-pip /opt/venv
COPY requirements-server.lock ./
RUN pip --python /opt/venv/bin/python install --require-hashes --no-deps --requirement requirements-server.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY shared shared
COPY api api
COPY worker worker
COPY bulksms bulksms
COPY console console
COPY clients/python clients/python
# Places and operators by phone are 40 MB of phonenumbers that nothing here asks for; time zones are used.
RUN pip --python /opt/venv/bin/python install --no-deps --no-build-isolation --editable . \
    && pip --python /opt/venv/bin/python uninstall --yes --quiet setuptools wheel \
    && rm -r /opt/venv/lib/python3.11/site-packages/phonenumbers/geodata \
             /opt/venv/lib/python3.11/site-packages/phonenumbers/carrierdata \
    && python -m compileall -q shared api worker bulksms console clients/python \
    && rm requirements-server.lock

FROM python:3.11-slim
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN python -m pip uninstall --yes --quiet --root-user-action=ignore pip setuptools wheel 2>/dev/null \
    ; useradd --system --uid 10001 --no-create-home bulksms \
    && install --directory --owner=bulksms /var/lib/bulksms /run/bulksms
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
COPY --from=docs /app/site /app/site
WORKDIR /app
USER bulksms
EXPOSE 8000

CMD ["python", "-m", "api.server", "--host", "0.0.0.0"]
