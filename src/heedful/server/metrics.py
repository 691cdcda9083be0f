"""What is counted, in a registry of its own; nothing in it tells who asked, or what."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counters by endpoint and status, and of what waits."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        registry = self.registry
        self.requests = Counter(
            "heedful_requests", "Requests answered", ["endpoint", "status"], registry=registry
        )
        self.seconds = Histogram(
            "heedful_request_seconds",
            "Time to answer",
            ["endpoint"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.batches = Histogram(
            "heedful_batch_sentences",
            "Sentences translated at once",
            buckets=_SIZES,
            registry=registry,
        )
        self.waiting = Gauge("heedful_waiting_characters", "Not begun yet", registry=registry)
        self.at_work = Gauge("heedful_requests_at_work", "Not answered yet", registry=registry)
        self.characters = Counter(
            "heedful_characters", "Asked for, by way", ["model"], registry=registry
        )
        self.cached = Counter("heedful_cached", "Sentences that were remembered", registry=registry)
        self.joined = Counter(
            "heedful_joined", "Sentences asked for twice at once", registry=registry
        )
        self.dropped = Counter(
            "heedful_dropped", "Sentences whose client had left", registry=registry
        )
        self.rejected = Counter(
            "heedful_rejected", "Requests that found no room", registry=registry
        )

    def text(self) -> bytes:
        """Write all of it as Prometheus reads it."""
        return generate_latest(self.registry)
