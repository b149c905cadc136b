import { isJsonObject, type Json, type JsonObject, parseJson, writeJson } from '../../../model/json/json.ts';
import type {
  Citation,
  DocumentPart,
  Extra,
  ModelRequest,
  Part,
  TextPart,
  Tool,
  ToolChoice,
  ToolInput,
  Turn,
} from '../../../model/request.ts';

/**
 * Where a text of a request stands. `schema`: keywords, names and descriptions in a tool's or an answer's JSON schema. `opaque`, `extra`: in
 * what only one wire format knows. `thinking` may be signed: its provider rejects other text.
 */
export type TextPlace =
  | 'system'
  | 'text'
  | 'refusal'
  | 'thinking'
  | 'tool-call'
  | 'tool-result'
  | 'document'
  | 'document-title'
  | 'document-context'
  | 'search-result'
  | 'citation'
  | 'url'
  | 'speaker'
  | 'tool-name'
  | 'tool-description'
  | 'schema'
  | 'stop'
  | 'user'
  | 'metadata'
  | 'opaque'
  | 'extra';

type Change = (text: string, place: TextPlace) => string;

/**
 * Maps all texts of a request: those of system, turns and results, the names and values of JSON, names of tools, and what only one wire
 * format knows. Ids, signatures, base64 and the model's name stay. A text that isn't changed keeps its object.
 */
export const mapTexts = (request: ModelRequest, change: Change): ModelRequest => new Texts(change).request(request);

class Texts {
  readonly #change: Change;

  constructor(change: Change) {
    this.#change = change;
  }

  request(request: ModelRequest): ModelRequest {
    const { system, turns, tools, deferredTools, toolItems, toolChoice, output, compaction, extra } = request;
    const { stop, user, metadata } = request;
    return {
      ...request,
      system: system.map((part) => this.#text(part, 'system')),
      turns: turns.map((turn) => this.#turn(turn)),
      tools: tools.map((tool) => this.#tool(tool)),
      ...(deferredTools && { deferredTools: deferredTools.map((tool) => this.#tool(tool)) }),
      ...(toolItems && { toolItems: toolItems.map((item) => ({ ...item, raw: this.#object(item.raw, 'opaque') })) }),
      ...(toolChoice && { toolChoice: this.#toolChoice(toolChoice) }),
      ...(stop && { stop: stop.map((text) => this.#change(text, 'stop')) }),
      ...(user !== undefined && { user: this.#change(user, 'user') }),
      ...(metadata && {
        metadata: Object.fromEntries(
          Object.entries(metadata).map(([name, text]) => [name, this.#change(text, 'metadata')]),
        ),
      }),
      ...(output?.type === 'json-schema' && {
        output: {
          ...output,
          schema: this.#object(output.schema, 'schema'),
          ...this.#optional('description', output.description, 'schema'),
        },
      }),
      ...(compaction && {
        compaction: {
          ...compaction,
          ...this.#optional('instructions', compaction.instructions, 'system'),
          ...(compaction.raw && { raw: { ...compaction.raw, value: this.#object(compaction.raw.value, 'opaque') } }),
        },
      }),
      ...(extra && { extra: this.#extra(extra) }),
    };
  }

  #turn(turn: Turn): Turn {
    return {
      ...turn,
      parts: turn.parts.map((part) => this.#part(part, turn.role === 'system' ? 'system' : 'text')),
      ...this.#optional('name', turn.name, 'speaker'),
      ...this.#extraOf(turn),
    };
  }

  #part(part: Part, place: TextPlace): Part {
    switch (part.type) {
      case 'text':
        return this.#text(part, place);
      case 'refusal':
      case 'thinking':
        return { ...part, text: this.#change(part.text, part.type), ...this.#extraOf(part) };
      case 'image':
        return {
          ...part,
          ...(part.source.kind === 'url' && { source: { ...part.source, url: this.#change(part.source.url, 'url') } }),
          ...this.#extraOf(part),
        };
      case 'document':
        return this.#document(part, place);
      case 'search-result':
        return {
          ...part,
          source: this.#change(part.source, 'url'),
          title: this.#change(part.title, 'search-result'),
          content: part.content.map((one) => this.#text(one, 'search-result')),
          ...this.#extraOf(part),
        };
      case 'tool-call':
        return {
          ...part,
          name: this.#change(part.name, 'tool-name'),
          input: this.#input(part.input),
          ...this.#extraOf(part),
        };
      case 'tool-result':
        return { ...part, content: part.content.map((one) => this.#part(one, 'tool-result')), ...this.#extraOf(part) };
      case 'opaque':
        return { ...part, raw: this.#object(part.raw, 'opaque'), ...this.#extraOf(part) };
      case 'audio':
      case 'redacted-thinking':
        return { ...part, ...this.#extraOf(part) };
      default:
        return part satisfies never;
    }
  }

  #text(part: TextPart, place: TextPlace): TextPart {
    return {
      ...part,
      text: this.#change(part.text, place),
      ...(part.citations && { citations: part.citations.map((one) => this.#citation(one)) }),
      ...this.#extraOf(part),
    };
  }

  #citation(citation: Citation): Citation {
    if (citation.type === 'opaque') return { ...citation, value: this.#object(citation.value, 'citation') };
    const { url, title, quote, raw } = citation;
    return {
      ...citation,
      url: this.#change(url, 'url'),
      ...this.#optional('title', title, 'citation'),
      ...this.#optional('quote', quote, 'citation'),
      ...(raw && { raw: { ...raw, value: this.#object(raw.value, 'citation') } }),
    };
  }

  #document(part: DocumentPart, place: TextPlace): DocumentPart {
    return {
      ...part,
      source: this.#documentSource(part.source, place),
      ...this.#optional('title', part.title, 'document-title'),
      ...this.#optional('context', part.context, 'document-context'),
      ...this.#extraOf(part),
    };
  }

  #documentSource(source: DocumentPart['source'], place: TextPlace): DocumentPart['source'] {
    switch (source.kind) {
      case 'text':
        return { ...source, text: this.#change(source.text, 'document') };
      case 'content':
        return { ...source, parts: source.parts.map((one) => this.#part(one, place === 'text' ? 'document' : place)) };
      case 'url':
        return { ...source, url: this.#change(source.url, 'url') };
      case 'base64':
      case 'file':
        return source;
      default:
        return source satisfies never;
    }
  }

  #tool(tool: Tool): Tool {
    switch (tool.type) {
      case 'function':
      case 'custom': {
        const { name, description, namespace } = tool;
        const common = {
          name: this.#change(name, 'tool-name'),
          ...this.#optional('description', description, 'tool-description'),
          ...(namespace && {
            namespace: {
              name: this.#change(namespace.name, 'tool-name'),
              local: this.#change(namespace.local, 'tool-name'),
              ...this.#optional('description', namespace.description, 'tool-description'),
            },
          }),
          ...this.#extraOf(tool),
        };
        if (tool.type === 'custom')
          return { ...tool, ...common, ...(tool.format && { format: this.#object(tool.format, 'schema') }) };
        return { ...tool, ...common, ...(tool.parameters && { parameters: this.#object(tool.parameters, 'schema') }) };
      }
      case 'web-search':
        return {
          ...tool,
          ...(tool.userLocation && { userLocation: this.#object(tool.userLocation, 'opaque') }),
          raw: { ...tool.raw, value: this.#object(tool.raw.value, 'opaque') },
          ...this.#extraOf(tool),
        };
      case 'hosted':
        return {
          ...tool,
          ...this.#optional('name', tool.name, 'tool-name'),
          raw: this.#object(tool.raw, 'opaque'),
          ...this.#extraOf(tool),
        };
      default:
        return tool satisfies never;
    }
  }

  #toolChoice(choice: ToolChoice): ToolChoice {
    if (choice.type === 'tool') return { ...choice, name: this.#change(choice.name, 'tool-name') };
    if (choice.type === 'allowed')
      return { ...choice, names: choice.names.map((name) => this.#change(name, 'tool-name')) };
    return choice.type === 'opaque' ? { ...choice, value: this.#json(choice.value, 'opaque') } : choice;
  }

  #input(input: ToolInput): ToolInput {
    return typeof input === 'string' ? this.#jsonText(input, 'tool-call') : this.#object(input, 'tool-call');
  }

  #extraOf({ extra }: { readonly extra?: Extra | undefined }): { readonly extra?: Extra } {
    return extra ? { extra: this.#extra(extra) } : {};
  }

  #extra(extra: Extra): Extra {
    const { fields, outer, original } = extra;
    return {
      ...extra,
      fields: this.#object(fields, 'extra'),
      ...(outer && { outer: this.#extra(outer) }),
      ...(original && {
        original: { ...original, objects: original.objects.map((one) => this.#object(one, 'extra')) },
      }),
    };
  }

  #optional<N extends string>(name: N, text: string | undefined, place: TextPlace): { readonly [K in N]?: string } {
    const member: { [K in N]?: string } = {};
    if (text !== undefined) member[name] = this.#change(text, place);
    return member;
  }

  /** An object whose texts are the same stays the same, and keeps the digits of its long numbers. */
  #object(value: JsonObject, place: TextPlace): JsonObject {
    const mapped = this.#json(value, place);
    return isJsonObject(mapped) ? mapped : value;
  }

  #json(value: Json, place: TextPlace): Json {
    if (typeof value === 'string') return this.#change(value, place);
    if (typeof value !== 'object' || value === null) return value;
    const text = writeJson(value);
    const mapped = this.#jsonText(text, place);
    return mapped === text ? value : (parseJson(mapped) ?? value);
  }

  /** Maps the names and texts inside JSON text; the numbers keep their digits. */
  #jsonText(text: string, place: TextPlace): string {
    const pieces: string[] = [];
    let from = 0;
    for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', from)) {
      const end = stringEnd(text, at);
      const inner: unknown = JSON.parse(text.slice(at, end));
      pieces.push(text.slice(from, at), typeof inner === 'string' ? JSON.stringify(this.#change(inner, place)) : '');
      from = end;
    }
    return pieces.join('') + text.slice(from);
  }
}

/** The position after a string of JSON that begins at `at`. */
const stringEnd = (text: string, at: number): number => {
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end + 1;
};
