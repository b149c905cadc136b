import type { PageProps } from '../page.ts';
import { SessionList } from './session-list.tsx';
import { SessionView } from './session-view.tsx';
import './sessions.css';

/** The conversations, or one of them. */
export const Sessions = ({ rest: [id], query }: PageProps) =>
  id === undefined ? <SessionList query={query} /> : <SessionView id={id} />;
