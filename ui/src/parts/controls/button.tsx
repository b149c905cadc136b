import './button.css';
import { type ComponentProps, type ReactNode, useEffect, useState } from 'react';
import { toast } from '../../state/toast.ts';
import { classNames } from '../class-names.ts';

/** Outlines on a 20 × 20 grid, drawn with a 1.6 wide line. */
const outlines = {
  overview: 'M2 14h16M5 14c5 0 4-8 9-8h4M5 14h.01',
  playground: 'M3 4.5h14v9H9l-4 3v-3H3zM6.5 8h7M6.5 10.5h4',
  logs: 'M4 5h12M4 8.5h8M4 12h12M4 15.5h6',
  history: 'M10 3a7 7 0 1 1-6.3 4M3.2 3.5v3.8H7M10 6.5V10l2.5 2',
  sessions: 'M3 4h9v6H7l-2 2v-2H3zM14 8h3v6h-2v2l-2-2H9v-1.5',
  usage: 'M3 17h14M5.5 17v-5M10 17V4M14.5 17V8.5',
  providers: 'M3.5 4h13v5h-13zM3.5 11h13v5h-13zM6 6.5h.01M6 13.5h.01',
  routing: 'M3 10h5M8 10c4 0 3-5 7-5h2M8 10c4 0 3 5 7 5h2M15 3l2 2-2 2M15 13l2 2-2 2',
  transformers: 'M3 6h6M13 6h4M3 14h2M9 14h8M11 4v4M7 12v4',
  presets: 'M10 3l7 3.5-7 3.5-7-3.5zM3 10l7 3.5 7-3.5M3 13.5L10 17l7-3.5',
  settings:
    'M10 7.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM10 2.5v2M10 15.5v2M2.5 10h2M15.5 10h2M4.7 4.7l1.4 1.4M13.9 13.9l1.4 1.4M4.7 15.3l1.4-1.4M13.9 6.1l1.4-1.4',
  connect: 'M7 7l6 6M11.5 4.5l1-1a2.8 2.8 0 0 1 4 4l-2.5 2.5M8.5 15.5l-1 1a2.8 2.8 0 0 1-4-4l2.5-2.5',
  menu: 'M3 5.5h14M3 10h14M3 14.5h14',
  close: 'M5 5l10 10M15 5L5 15',
  add: 'M10 4v12M4 10h12',
  remove: 'M4 6h12M8 6V4h4v2M5.5 6l.7 10h7.6l.7-10M8.5 9v4.5M11.5 9v4.5',
  edit: 'M4 16l.8-3.5L13 4.3l2.7 2.7-8.2 8.2z',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  done: 'M4 10.5l4 4 8-9',
  warn: 'M10 3l7.5 13h-15zM10 8v3.5M10 14h.01',
  failed: 'M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zM10 6v5M10 13.8h.01',
  info: 'M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zM10 9v5M10 6.2h.01',
  up: 'M5 12l5-5 5 5',
  down: 'M5 8l5 5 5-5',
  left: 'M12 5l-5 5 5 5',
  right: 'M8 5l5 5-5 5',
  grip: 'M7.5 5h.01M12.5 5h.01M7.5 10h.01M12.5 10h.01M7.5 15h.01M12.5 15h.01',
  play: 'M6 4l10 6-10 6z',
  stop: 'M5 5h10v10H5z',
  record: 'M10 5.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z',
  reload: 'M16 10a6 6 0 1 1-1.8-4.3L16 7.5M16 3.5v4h-4',
  search: 'M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zM12.7 12.7L17 17',
  keyboard: 'M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6 11.5h8',
  system: 'M3 4h14v9H3zM7 16.5h6M10 13v3.5',
  light:
    'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1 1M14.7 14.7l1 1M4.3 15.7l1-1M14.7 5.3l1-1',
  dark: 'M16.5 11.5A7 7 0 0 1 8.5 3.5a7 7 0 1 0 8 8z',
  shown: 'M2 10c2-3.5 5-5 8-5s6 1.5 8 5c-2 3.5-5 5-8 5s-6-1.5-8-5zM10 7.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z',
  hidden:
    'M3 3l14 14M6 6.2C4.3 7.1 3 8.4 2 10c2 3.5 5 5 8 5 1.3 0 2.6-.3 3.8-.8M8.5 5.1C9 5 9.5 5 10 5c3 0 6 1.5 8 5-.6 1-1.3 1.9-2 2.6',
} as const;

/** The names of all icons. */
export type IconName = keyof typeof outlines;

/** A decorative icon. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d={outlines[name]} />
  </svg>
);

/** The props of a button. */
interface ButtonProps extends Omit<ComponentProps<'button'>, 'type'> {
  /** `primary`: the main action, once per page. `quiet`: without an outline. `danger`: destructive. */
  readonly look?: 'plain' | 'primary' | 'quiet' | 'danger';
  readonly icon?: IconName;
  /** In progress: clicks have no effect, but the button keeps the focus. */
  readonly busy?: boolean;
  readonly type?: 'button' | 'submit';
  readonly children?: ReactNode;
}

/** A button with text. */
export const Button = ({
  look = 'plain',
  icon,
  busy = false,
  type = 'button',
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) => (
  <button
    {...rest}
    type={type}
    className={classNames('button', `button-${look}`, className)}
    aria-busy={busy || undefined}
    aria-disabled={busy || undefined}
    onClick={busy ? (event) => event.preventDefault() : onClick}
  >
    {icon && <Icon name={icon} />}
    {children}
  </button>
);

/** A button with only an icon; `label` says what it does. */
export const IconButton = ({
  label,
  icon,
  className,
  ...rest
}: Omit<ButtonProps, 'children'> & { readonly label: string; readonly icon: IconName }) => (
  <Button
    look="quiet"
    {...rest}
    icon={icon}
    aria-label={label}
    title={label}
    className={classNames('button-icon', className)}
  />
);

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
