// Made by `make typescript-sources`. Change om_api instead.
export const RECALL_TOOLS = {
  "openai": {
    "type": "function",
    "function": {
      "name": "recall",
      "description": "Look up what was said earlier in any conversation you remember, word for word, by the words it was said with. Use it for a name, number, date, decision, answer or result that your notes and the messages in view do not hold.",
      "parameters": {
        "type": "object",
        "properties": {
          "query": {
            "type": "string",
            "description": "A few distinctive words that were probably used: names, things, numbers. \"an exact phrase\" goes in quotes, -word leaves out."
          },
          "thread_id": {
            "type": "string",
            "description": "One conversation alone; leave it out to look in all."
          },
          "role": {
            "type": "string",
            "enum": [
              "user",
              "assistant",
              "tool"
            ],
            "description": "Who said it, if that is certain."
          },
          "after": {
            "type": "string",
            "description": "Only what was said on this day or later, as YYYY-MM-DD."
          },
          "before": {
            "type": "string",
            "description": "Only what was said before this day, as YYYY-MM-DD."
          },
          "group": {
            "type": "string",
            "description": "Read a group of older notes whole, by the name in brackets in its heading; of a month (2026-03) its groups are listed. The query counts for nothing then."
          },
          "offset": {
            "type": "integer",
            "description": "Go on where an earlier answer said that there is more."
          }
        },
        "required": [
          "query"
        ]
      }
    }
  },
  "anthropic": {
    "name": "recall",
    "description": "Look up what was said earlier in any conversation you remember, word for word, by the words it was said with. Use it for a name, number, date, decision, answer or result that your notes and the messages in view do not hold.",
    "input_schema": {
      "type": "object",
      "properties": {
        "query": {
          "type": "string",
          "description": "A few distinctive words that were probably used: names, things, numbers. \"an exact phrase\" goes in quotes, -word leaves out."
        },
        "thread_id": {
          "type": "string",
          "description": "One conversation alone; leave it out to look in all."
        },
        "role": {
          "type": "string",
          "enum": [
            "user",
            "assistant",
            "tool"
          ],
          "description": "Who said it, if that is certain."
        },
        "after": {
          "type": "string",
          "description": "Only what was said on this day or later, as YYYY-MM-DD."
        },
        "before": {
          "type": "string",
          "description": "Only what was said before this day, as YYYY-MM-DD."
        },
        "group": {
          "type": "string",
          "description": "Read a group of older notes whole, by the name in brackets in its heading; of a month (2026-03) its groups are listed. The query counts for nothing then."
        },
        "offset": {
          "type": "integer",
          "description": "Go on where an earlier answer said that there is more."
        }
      },
      "required": [
        "query"
      ]
    }
  },
  "gemini": {
    "function_declarations": [
      {
        "name": "recall",
        "description": "Look up what was said earlier in any conversation you remember, word for word, by the words it was said with. Use it for a name, number, date, decision, answer or result that your notes and the messages in view do not hold.",
        "parameters": {
          "type": "object",
          "properties": {
            "query": {
              "type": "string",
              "description": "A few distinctive words that were probably used: names, things, numbers. \"an exact phrase\" goes in quotes, -word leaves out."
            },
            "thread_id": {
              "type": "string",
              "description": "One conversation alone; leave it out to look in all."
            },
            "role": {
              "type": "string",
              "enum": [
                "user",
                "assistant",
                "tool"
              ],
              "description": "Who said it, if that is certain."
            },
            "after": {
              "type": "string",
              "description": "Only what was said on this day or later, as YYYY-MM-DD."
            },
            "before": {
              "type": "string",
              "description": "Only what was said before this day, as YYYY-MM-DD."
            },
            "group": {
              "type": "string",
              "description": "Read a group of older notes whole, by the name in brackets in its heading; of a month (2026-03) its groups are listed. The query counts for nothing then."
            },
            "offset": {
              "type": "integer",
              "description": "Go on where an earlier answer said that there is more."
            }
          },
          "required": [
            "query"
          ]
        }
      }
    ]
  }
} as const;
