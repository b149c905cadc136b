import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';

/** A run of text in a line. */
export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis' | 'deleted'; readonly content: readonly Inline[] }
  | { readonly kind: 'link'; readonly href: string; readonly content: readonly Inline[] }
  | { readonly kind: 'break' };

/** A cell of a table. */
export type Cell = readonly Inline[];

/** A block of text. */
export type Block =
  | { readonly kind: 'paragraph' | 'heading'; readonly content: readonly Inline[] }
  | { readonly kind: 'list'; readonly start: number | undefined; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'table'; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'rule' };

/** Maximum nesting of blocks and runs; deeper ones stay as written. */
const mostDepth = 16;

/** Parses Markdown with tables. HTML, images and links to other than web and mail addresses stay text. */
export const readMarkdown = (text: string): readonly Block[] => {
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(text).flatMap((token) => readBlock(token, 0));
  } catch {
    // Thousands of quotes in each other overflow the parser's stack.
    return [plainBlock(text)];
  }
};

const plainBlock = (text: string): Block => ({ kind: 'paragraph', content: [{ kind: 'text', text }] });

const readBlock = (token: Token, depth: number): readonly Block[] => {
  if (!isKnown(token) || depth > mostDepth) return [plainBlock(token.raw)];
  const next = depth + 1;
  switch (token.type) {
    case 'space':
    case 'def':
      return token.type === 'def' ? [plainBlock(token.raw)] : [];
    case 'hr':
      return [{ kind: 'rule' }];
    case 'code':
      return [{ kind: 'code', language: token.lang ?? '', text: token.text }];
    case 'heading':
      return [{ kind: 'heading', content: readInlines(token.tokens, next) }];
    case 'blockquote':
      return [{ kind: 'quote', blocks: token.tokens.flatMap((one) => readBlock(one, next)) }];
    case 'list':
      return [
        {
          kind: 'list',
          start: typeof token.start === 'number' ? token.start : undefined,
          items: token.items.map((item) => readItem(item, next)),
        },
      ];
    case 'table':
      return [
        {
          kind: 'table',
          head: token.header.map((cell) => readInlines(cell.tokens, next)),
          rows: token.rows.map((row) => row.map((cell) => readInlines(cell.tokens, next))),
        },
      ];
    case 'paragraph':
      return [{ kind: 'paragraph', content: readInlines(token.tokens, next) }];
    default:
      return [{ kind: 'paragraph', content: readInline(token, next) }];
  }
};

const readItem = ({ task, checked, tokens }: Tokens.ListItem, depth: number): readonly Block[] => {
  const blocks = tokens.flatMap((token) => (token.type === 'checkbox' ? [] : readBlock(token, depth)));
  return task ? [{ kind: 'paragraph', content: [{ kind: 'text', text: checked ? '☑' : '☐' }] }, ...blocks] : blocks;
};

const readInlines = (tokens: readonly Token[], depth: number): readonly Inline[] =>
  tokens.flatMap((token) => readInline(token, depth));

const readInline = (token: Token, depth: number): readonly Inline[] => {
  if (!isKnown(token) || depth > mostDepth) return [{ kind: 'text', text: token.raw }];
  const next = depth + 1;
  switch (token.type) {
    case 'text':
      return token.tokens ? readInlines(token.tokens, next) : [{ kind: 'text', text: withoutEntities(token.text) }];
    case 'escape':
      return [{ kind: 'text', text: token.text }];
    case 'codespan':
      return [{ kind: 'code', text: token.text }];
    case 'strong':
      return [{ kind: 'strong', content: readInlines(token.tokens, next) }];
    case 'em':
      return [{ kind: 'emphasis', content: readInlines(token.tokens, next) }];
    case 'del':
      return [{ kind: 'deleted', content: readInlines(token.tokens, next) }];
    case 'br':
      return [{ kind: 'break' }];
    case 'link':
      return isAllowed(token.href)
        ? [{ kind: 'link', href: token.href, content: readInlines(token.tokens, next) }]
        : [{ kind: 'text', text: token.raw }];
    default:
      return [{ kind: 'text', text: token.raw }];
  }
};

/** The parser's own tokens; no extension is loaded that makes others. */
const isKnown = (token: Token): token is MarkedToken => token.type in known;

const known: Readonly<Record<MarkedToken['type'], true>> = {
  blockquote: true,
  br: true,
  checkbox: true,
  code: true,
  codespan: true,
  def: true,
  del: true,
  em: true,
  escape: true,
  heading: true,
  hr: true,
  html: true,
  image: true,
  link: true,
  list: true,
  list_item: true,
  paragraph: true,
  space: true,
  strong: true,
  table: true,
  text: true,
};

const schemes: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** An absolute address with an allowed scheme. */
const isAllowed = (href: string): boolean => URL.canParse(href) && schemes.has(new URL(href).protocol);

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** The parser leaves the entities in texts. */
const withoutEntities = (text: string): string =>
  text.replace(/&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,6}));/g, (whole, name?: string, code?: string) =>
    name === undefined ? String.fromCodePoint(Number(code)) : (entities[name] ?? whole),
  );
