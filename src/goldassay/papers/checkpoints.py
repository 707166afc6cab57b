"""Whether pretrained checkpoints are at hand: in a folder, in the cache of the hub's library, or on the hub."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from goldassay.data.hub import hub_endpoint, is_hub_reachable

_CONFIG = "config.json"


class Checkpoints:
    """Checkpoints by their folder or name on the hub; the hub is asked once whether it answers."""

    def has(self, name: str) -> bool:
        """Whether a checkpoint can be loaded; nothing is downloaded."""
        if Path(name).is_dir():
            return (Path(name) / _CONFIG).exists()
        from huggingface_hub import HfApi, try_to_load_from_cache
        from huggingface_hub.errors import HfHubHTTPError

        if isinstance(try_to_load_from_cache(name, _CONFIG), str):
            return True
        if not self._online:
            return False
        try:
            return bool(HfApi(endpoint=hub_endpoint()).file_exists(name, _CONFIG))
        except (HfHubHTTPError, OSError):
            return False

    @cached_property
    def _online(self) -> bool:
        return is_hub_reachable()
