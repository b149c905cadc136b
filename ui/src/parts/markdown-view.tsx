import { Fragment, memo } from 'react';
import { CopyButton } from './copy-button.tsx';
import { type Block, type Inline, readBlocks, readInlines } from './markdown.ts';
import { ScrollRegion } from './scroll-region.tsx';
import './markdown.css';

/** Renders a model's Markdown. HTML in it stays text. */
export const MarkdownView = memo(({ text }: { readonly text: string }) => (
  <div className="markdown">
    {readBlocks(text).map((block, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text grows at its end; a block stays in its place
      <BlockView key={index} block={block} />
    ))}
  </div>
));

const BlockView = ({ block }: { readonly block: Block }) => {
  if (block.kind === 'code') return <CodeView language={block.language} text={block.text} />;
  if (block.kind === 'list') {
    const items = block.items.map((item, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: see above
      <li key={index}>
        <MarkdownLine text={item} />
      </li>
    ));
    return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
  }
  const lines = block.lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <Fragment key={index}>
      {index > 0 && <br />}
      <MarkdownLine text={line} />
    </Fragment>
  ));
  return <p className={block.kind === 'heading' ? 'markdown-heading' : undefined}>{lines}</p>;
};

const CodeView = ({ language, text }: { readonly language: string; readonly text: string }) => (
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

/** Renders one line of Markdown. */
export const MarkdownLine = ({ text }: { readonly text: string }) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  readInlines(text).map((run, index) => <Run key={index} run={run} />);

const Run = ({ run: { kind, text } }: { readonly run: Inline }) => {
  switch (kind) {
    case 'plain':
      return text;
    case 'code':
      return <code>{text}</code>;
    case 'strong':
      return <strong>{text}</strong>;
    case 'emphasis':
      return <em>{text}</em>;
  }
};
