"""What an agent reads of its memory: pure, from a snapshot to text and to the providers' own forms."""

from om_api.context.assemble import FORMS, Context
from om_api.context.rendering import Rendering, build
from om_api.context.view import Block, View

__all__ = ["FORMS", "Block", "Context", "Rendering", "View", "build"]
