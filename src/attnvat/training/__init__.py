"""One loop, one config, and runs that cannot be lost."""

from attnvat.training.config import Config, load_config, template
from attnvat.training.loop import Trained, fit
from attnvat.training.prepare import Prepared, prepare
from attnvat.training.run import Run, load_data, open_run

__all__ = ["Config", "Prepared", "Run", "Trained", "fit", "load_config", "load_data", "open_run", "prepare", "template"]
