import './code-block.css';
import { CopyButton } from './copy-button.tsx';

/** A text to be copied: a command, a file. */
export const CodeBlock = ({
  label,
  text,
  wrap = false,
}: {
  readonly label: string;
  readonly text: string;
  readonly wrap?: boolean;
}) => (
  <figure className="code-block">
    <figcaption className="code-block-head">
      <span>{label}</span>
      <CopyButton text={text} />
    </figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
    <section className="code-block-text" aria-label={label} tabIndex={0}>
      <pre className={wrap ? 'code-block-wrap' : undefined}>
        <code>{text}</code>
      </pre>
    </section>
  </figure>
);
