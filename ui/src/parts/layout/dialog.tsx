import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { useAttempt } from '../../api/use-attempt.ts';
import { classNames } from '../class-names.ts';
import { Button, IconButton } from '../controls/button.tsx';
import './dialog.css';
import { Notice } from './notice.tsx';

/** A modal dialog. Its first field has the focus, or else its first button; closing it restores the focus. */
export const Dialog = ({
  title,
  onClose,
  children,
  actions,
  wide = false,
  closable = true,
}: {
  readonly title: string;
  /** Called on Escape, the close button, or a click outside. */
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons, the main one last. */
  readonly actions?: ReactNode;
  readonly wide?: boolean;
  /** False: only its own actions close it. */
  readonly closable?: boolean;
}) => {
  const own = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = own.current;
    const before = document.activeElement;
    dialog?.showModal();
    const field = dialog?.querySelector('.dialog-content :is(input, select, textarea):enabled');
    if (field instanceof HTMLElement) field.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={own}
      className={classNames('dialog', wide && 'dialog-wide')}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (closable) onClose();
      }}
      // The target is the dialog itself only outside its content. Keys have `onCancel`.
      onMouseDown={(event) => {
        if (closable && event.target === own.current) onClose();
      }}
    >
      <div className="stack dialog-body">
        <header className="dialog-head">
          <h2 id={id}>{title}</h2>
          {closable && <IconButton icon="close" label="Close" onClick={onClose} />}
        </header>
        <div className="stack dialog-content">{children}</div>
        {actions && <footer className="dialog-actions">{actions}</footer>}
      </div>
    </dialog>
  );
};

/** A dialog with a form: its button does something, and if that fails, it says why. */
export const FormDialog = ({
  title,
  yes,
  look = 'primary',
  no = 'Cancel',
  ready = true,
  wide = false,
  onClose,
  run,
  children,
}: {
  readonly title: string;
  /** The button's text. */
  readonly yes: string;
  readonly look?: 'primary' | 'danger';
  /** The text of the button that only closes it. */
  readonly no?: string;
  /** Whether all that is needed is there. */
  readonly ready?: boolean;
  readonly wide?: boolean;
  readonly onClose: () => void;
  /** Closes the dialog itself once it is done. */
  readonly run: () => Promise<void>;
  readonly children: ReactNode;
}) => {
  const { busy, error, run: attempt } = useAttempt();
  const form = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (ready && !busy) attempt(run);
  };
  return (
    <Dialog
      title={title}
      wide={wide}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{no}</Button>
          <Button look={look} type="submit" form={form} busy={busy} disabled={!ready}>
            {yes}
          </Button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit}>
        {children}
        {error !== undefined && <Notice kind="failed">{error}</Notice>}
      </form>
    </Dialog>
  );
};
