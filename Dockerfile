# A small image that translates, without torch and without rights:
#   docker build --tag heedful .
#   docker run --rm --volume "$PWD/model:/model:ro" heedful translate /model "Good morning!"
#   docker run --rm --publish 127.0.0.1:5000:5000 --volume "$PWD/model:/model:ro" \
#     heedful serve /model --host 0.0.0.0
FROM python:3.13-slim AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .

FROM python:3.13-slim
COPY constraints.txt /tmp/
RUN --mount=type=bind,from=wheel,source=/wheel,target=/wheel \
    pip install --no-cache-dir --no-compile --constraint /tmp/constraints.txt "$(echo /wheel/*.whl)[serve]"
# Compiled for a quick start, but for what is large and seldom wanted.
RUN python -m compileall -q -x "/(numpy|lxml|sacrebleu|pip)/" /usr/local/lib/python3.13/site-packages
RUN useradd --create-home translator
USER translator
EXPOSE 5000
ENTRYPOINT ["heedful"]
CMD ["--help"]
