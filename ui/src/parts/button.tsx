import type { ComponentProps, ReactNode } from 'react';
import './button.css';
import { classNames } from './class-names.ts';
import { Icon, type IconName } from './icon.tsx';

/** What a button may be beside a plain one. */
interface ButtonProps extends Omit<ComponentProps<'button'>, 'type'> {
  /** `primary`: what the page is there for, once per page. `quiet`: without an outline. `danger`: something is lost by it. */
  readonly look?: 'plain' | 'primary' | 'quiet' | 'danger';
  readonly icon?: IconName;
  /** What was asked for is under way: it can't be asked for again, but keeps the focus. */
  readonly busy?: boolean;
  readonly type?: 'button' | 'submit';
  readonly children?: ReactNode;
}

/** A button with words. */
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

/** A button with a picture alone; `label` is what it does. */
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
