import { lazy, memo, Suspense } from 'react';
import './markdown.css';
import { splitText } from './split-text.ts';

const Piece = lazy(async () => ({ default: (await import('./markdown-piece.tsx')).MarkdownPiece }));

/** Renders a model's Markdown. HTML in it stays text. Until the parser is loaded, the text is shown as it is. */
export const MarkdownView = memo(({ text }: { readonly text: string }) => (
  <div className="markdown">
    <Suspense fallback={<p className="markdown-plain">{text}</p>}>
      {splitText(text).map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a text grows at its end; a piece stays in its place
        <Piece key={index} text={piece} />
      ))}
    </Suspense>
  </div>
));
