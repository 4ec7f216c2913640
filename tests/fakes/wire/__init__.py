"""The dialects, one a file, and the table of them."""

from __future__ import annotations

from tests.fakes.wire import anthropic, bedrock, gemini, ollama, openai_chat, openai_responses
from tests.fakes.wire.dialect import Refusal, Wire

WIRES: dict[str, Wire] = {
    "anthropic": anthropic.Messages(),
    "openai": openai_chat.Chat(),
    "responses": openai_responses.Responses(),
    "gemini": gemini.Gemini(),
    "ollama": ollama.Ollama(),
    "bedrock": bedrock.Converse(),
}

__all__ = ["WIRES", "Refusal", "Wire"]
