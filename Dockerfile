FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

RUN useradd --system --uid 10001 --no-create-home bulksms && install -d -o bulksms -g bulksms /var/lib/bulksms
WORKDIR /app

COPY requirements-server.lock ./
RUN pip install --require-hashes --no-deps --requirement requirements-server.lock

COPY pyproject.toml README.md ./
COPY shared shared
COPY api api
COPY worker worker
COPY bulksms bulksms
RUN pip install --no-deps --no-build-isolation --editable . && python -m compileall -q shared api worker bulksms

USER bulksms
EXPOSE 8000

CMD ["python", "-m", "api.server", "--host", "0.0.0.0"]
