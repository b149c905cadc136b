import { parseJson } from '../../engine/model/json/json.ts';
import type { ModelRequest } from '../../engine/model/request.ts';

/** Longer ones aren't Claude Code's. */
const maxCharacters = 1_000;

/** `user_…_account_…_session_<id>`. */
const sessionForm = /_session_([\w-]{8,64})$/;

/** The session in Claude Code's `metadata.user_id`: at the end of a name, or a member of a JSON object in newer versions. */
export const sessionIn = ({ user = '' }: ModelRequest): string | undefined => {
  if (user.length > maxCharacters) return undefined;
  if (!user.startsWith('{')) return sessionForm.exec(user)?.[1];
  const id: unknown = Object(parseJson(user)).session_id;
  return typeof id === 'string' ? id : undefined;
};
