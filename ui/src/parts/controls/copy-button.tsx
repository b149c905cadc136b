import { useEffect, useState } from 'react';
import { toast } from '../../state/toast.ts';
import { Button } from './button.tsx';

/** How long the confirmation is shown, in milliseconds. */
const saysMs = 2_000;

/** Copies a text to the clipboard. */
export const CopyButton = ({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) => {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = window.setTimeout(() => setCopied(false), saysMs);
    return () => window.clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    copyText(text).then(
      () => setCopied(true),
      () => toast('The browser blocked copying. Select the text and copy it manually.', 'failed'),
    );
  };
  return (
    <Button look="quiet" icon={copied ? 'done' : 'copy'} onClick={copy}>
      {label}
      {copied && (
        <span className="unseen" role="status">
          {' '}
          (copied)
        </span>
      )}
    </Button>
  );
};

/** Without TLS, browsers offer the clipboard on loopback addresses only. */
const copyText = async (text: string): Promise<void> => {
  if (!navigator.clipboard) throw new Error('no clipboard');
  await navigator.clipboard.writeText(text);
};
