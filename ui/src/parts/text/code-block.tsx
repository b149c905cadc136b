import './code-block.css';
import { CopyButton } from '../controls/button.tsx';
import { ScrollRegion } from '../layout/scroll-region.tsx';

/** A text to copy: a command, a file. */
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
    <ScrollRegion className="code-block-text" label={label}>
      <pre className={wrap ? 'code-block-wrap' : undefined}>
        <code>{text}</code>
      </pre>
    </ScrollRegion>
  </figure>
);
