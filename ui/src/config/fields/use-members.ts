import { useState } from 'react';
import type { Json, JsonObject } from '../../api/json.ts';
import { useRows } from '../../state/use-rows.ts';
import { sameJson } from './same-json.ts';

/** A row of an edited object. */
export type Member = readonly [name: string, value: Json];

/** Edits an object as rows of name and value. */
export const useMembers = (value: JsonObject, onChange: (next: JsonObject) => void) => {
  const [edited, setEdited] = useState<readonly Member[]>([]);
  // While a name is typed, it may equal another row's, or be a number, which an object would put first. Edited rows therefore stay
  // as long as they have the draft's value.
  const members = sameJson(objectOf(edited), value) ? edited : membersOf(value);
  const rows = useRows(members, (next) => {
    setEdited(next);
    onChange(objectOf(next));
  });
  return { members, rows };
};

/** Whether a later row has the same name: an object holds only that one's value. */
export const isReplaced = (members: readonly Member[], at: number): boolean =>
  members.slice(at + 1).some(([name]) => name === members[at]?.[0]);

const membersOf = (value: JsonObject): readonly Member[] =>
  Object.entries(value).flatMap(([name, given]): Member[] => (given === undefined ? [] : [[name, given]]));

/** Without rows that are still empty. */
const objectOf = (members: readonly Member[]): JsonObject =>
  Object.fromEntries(members.filter(([name, value]) => name !== '' || value !== ''));
