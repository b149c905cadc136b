import { memo, useMemo } from 'react';
import { CopyButton } from '../controls/button.tsx';
import { ScrollRegion } from '../layout/scroll-region.tsx';
import { type Block, type Cell, type Inline, readMarkdown } from './read-markdown.ts';

/** A piece of Markdown, rendered. */
export const MarkdownPiece = memo(({ text }: { readonly text: string }) => (
  <Blocks list={useMemo(() => readMarkdown(text), [text])} />
));

const Blocks = ({ list }: { readonly list: readonly Block[] }) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: a text grows at its end; a block stays in its place
  list.map((block, index) => <BlockView key={index} block={block} />);

const BlockView = ({ block }: { readonly block: Block }) => {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return (
        <p className={block.kind === 'heading' ? 'markdown-heading' : undefined}>
          <Inlines list={block.content} />
        </p>
      );
    case 'list':
      return <ListView {...block} />;
    case 'quote':
      return (
        <blockquote className="markdown-quote">
          <Blocks list={block.blocks} />
        </blockquote>
      );
    case 'code':
      return <CodeView {...block} />;
    case 'table':
      return <TableView {...block} />;
    case 'rule':
      return <hr />;
    default:
      return block satisfies never;
  }
};

const ListView = ({ start, items }: Extract<Block, { readonly kind: 'list' }>) => {
  const list = items.map((blocks, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <li key={index}>
      <Blocks list={blocks} />
    </li>
  ));
  return start === undefined ? <ul>{list}</ul> : <ol start={start}>{list}</ol>;
};

const CodeView = ({ language, text }: Extract<Block, { readonly kind: 'code' }>) => (
  <div className="markdown-code">
    <div className="markdown-code-head">
      <span>{language || 'code'}</span>
      <CopyButton text={text} />
    </div>
    <ScrollRegion className="markdown-code-text" label={`Code${language && ` in ${language}`}`}>
      <pre>
        <code>{text}</code>
      </pre>
    </ScrollRegion>
  </div>
);

const TableView = ({ head, rows }: Extract<Block, { readonly kind: 'table' }>) => (
  <ScrollRegion className="markdown-table" label={`Table of ${head.map(textOf).join(', ')}`}>
    <table>
      <thead>
        <Row cells={head} isHead />
      </thead>
      <tbody>
        {rows.map((cells, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <Row key={index} cells={cells} />
        ))}
      </tbody>
    </table>
  </ScrollRegion>
);

/** The text of inlines, without their looks. */
const textOf = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => ('content' in inline ? textOf(inline.content) : 'text' in inline ? inline.text : ''))
    .join('');

const Row = ({ cells, isHead = false }: { readonly cells: readonly Cell[]; readonly isHead?: boolean }) => {
  const Tag = isHead ? 'th' : 'td';
  return (
    <tr>
      {cells.map((cell, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <Tag key={index}>
          <Inlines list={cell} />
        </Tag>
      ))}
    </tr>
  );
};

const Inlines = ({ list }: { readonly list: readonly Inline[] }) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  list.map((run, index) => <Run key={index} run={run} />);

const Run = ({ run }: { readonly run: Inline }) => {
  switch (run.kind) {
    case 'text':
      return run.text;
    case 'code':
      return <code>{run.text}</code>;
    case 'break':
      return <br />;
    case 'strong':
      return (
        <strong>
          <Inlines list={run.content} />
        </strong>
      );
    case 'emphasis':
      return (
        <em>
          <Inlines list={run.content} />
        </em>
      );
    case 'deleted':
      return (
        <del>
          <Inlines list={run.content} />
        </del>
      );
    case 'link':
      return (
        <a href={run.href} title={run.href} target="_blank" rel="noreferrer noopener">
          <Inlines list={run.content} />
        </a>
      );
    default:
      return run satisfies never;
  }
};
