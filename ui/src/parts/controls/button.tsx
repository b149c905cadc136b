import type { ComponentProps, ReactNode } from 'react';
import './button.css';
import { classNames } from '../class-names.ts';
import { Icon, type IconName } from './icon.tsx';

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
