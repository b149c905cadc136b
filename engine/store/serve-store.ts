import { statSync } from 'node:fs';
import { messageOf } from '../model/fault.ts';
import { ClientUseFile } from './client-files.ts';
import type { KeptUse } from './client-use.ts';
import { storeAnswers } from './queries.ts';
import type { Answers, Questions } from './questions.ts';
import { usedIn } from './row.ts';
import { type Database, isDamage, type Sqlite } from './sqlite.ts';
import { prepareToRead } from './tables.ts';
import { type Appending, type StoreBounds, StoreWriter, type WriterOptions } from './writer.ts';

/** What a thread of the store is for: it writes a file, or answers questions about the one that another writes. */
export type StoreOpening =
  | ({ readonly role: 'write' } & WriterOptions)
  | { readonly role: 'read'; readonly file: string };

/** What the thread that writes is asked to do. Its answer says that it is done, and on disk as far as SQLite's WAL promises it. */
interface Writes {
  /** Keeps whole lines of ended requests, each with its line feed, as text or in UTF-8; bytes of shared memory reach the thread uncopied. */
  readonly append: {
    readonly query: Appending & { readonly lines: string | Uint8Array };
    /** Null: there is nowhere to keep it. */
    readonly answer: KeptUse | null;
  };
  /** Times in milliseconds since 1970. */
  readonly bound: { readonly query: { readonly bounds: StoreBounds; readonly nowMs: number }; readonly answer: null };
  readonly prune: { readonly query: { readonly nowMs: number }; readonly answer: null };
  readonly clear: { readonly query: null; readonly answer: null };
  /** Sets the file aside if it is damaged. */
  readonly check: { readonly query: null; readonly answer: null };
  readonly close: { readonly query: null; readonly answer: null };
}

export interface Jobs extends Questions, Writes {}

/** A job for a thread. `lines`: a question is about these requests alone, which are in no file. */
type Job = {
  readonly [Name in keyof Jobs]: {
    readonly id: number;
    readonly name: Name;
    readonly query: Jobs[Name]['query'];
    readonly lines?: string | undefined;
  };
}[keyof Jobs];

type Question = Extract<Job, { readonly name: keyof Questions }>;

/** What a thread says. `damaged`: the file must be checked by the thread that writes. */
export type Said =
  | { readonly type: 'done'; readonly id: number; readonly answer: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly problem: string; readonly damaged: boolean }
  | { readonly type: 'warning'; readonly message: string; readonly detail: string };

/** Why nothing is kept where no library runs. */
const noLibrary =
  'requests are kept in memory only: Node.js has no node:sqlite before 22.13, and the package libsql is not installed';

/** Returns what handles the messages to a thread: the opening first, then jobs. `sqlite`: the library that runs here. */
export const serveStore = (
  say: (said: Said) => void,
  sqlite: Sqlite | undefined,
): ((message: StoreOpening | Job) => void) => {
  let run: (job: Job) => unknown = () => null;
  return (message) => {
    if ('role' in message) {
      const warn = (text: string, detail: string): void => say({ type: 'warning', message: text, detail });
      if (!sqlite && message.role === 'write') warn(noLibrary, message.file);
      run = message.role === 'write' ? writing(message, warn, sqlite) : reading(message.file, sqlite);
      return;
    }
    const { id } = message;
    try {
      say({ type: 'done', id, answer: run(message) });
    } catch (error) {
      say({ type: 'failed', id, problem: messageOf(error), damaged: isDamage(error) });
    }
  };
};

const writing = (
  options: WriterOptions,
  warn: (message: string, detail: string) => void,
  sqlite: Sqlite | undefined,
): ((job: Job) => KeptUse | null) => {
  /** Where the store can't be used, the use of clients is kept apart. */
  const file = options.older && new ClientUseFile(options.older.clients);
  const keepApart = ({ lines, batch, nowMs }: Jobs['append']['query']): KeptUse | null =>
    file?.append(usedIn(textOf(lines)), nowMs, batch) ?? null;
  if (!sqlite) return (job) => (job.name === 'append' ? keepApart(job.query) : null);
  const writer = new StoreWriter(sqlite, options, warn);
  let isBound = false;
  let isConverting = false;
  let isClosed = false;
  /** One older file at a time: what ends meanwhile is kept in between. */
  const convert = (): void => {
    if (isClosed) return;
    try {
      isConverting = writer.convertNext();
    } catch (error) {
      isConverting = false;
      warn('requests of an earlier version are not taken over', messageOf(error));
    }
    if (isConverting) setImmediate(convert);
  };
  const takeClientFiles = (): void => {
    try {
      writer.takeClientFiles();
    } catch (error) {
      warn('the use of clients of an earlier version is not taken over', messageOf(error));
    }
  };
  return (job) => {
    switch (job.name) {
      case 'append':
        // A thread that took the place of another must not keep what shall not be kept.
        if (!isBound) throw new Error('The bounds of what is kept are not known yet.');
        return writer.append(textOf(job.query.lines), job.query) ?? keepApart(job.query);
      case 'bound':
        writer.bound(job.query.bounds, job.query.nowMs);
        takeClientFiles();
        isBound = true;
        if (!isConverting) {
          isConverting = true;
          setImmediate(convert);
        }
        break;
      case 'prune':
        writer.prune(job.query.nowMs);
        break;
      case 'clear':
        writer.clear();
        break;
      case 'check':
        writer.check();
        break;
      case 'close':
        isClosed = true;
        writer.close();
        break;
      default:
        throw new Error(`This thread answers no questions: ${job.name}.`);
    }
    return null;
  };
};

const textOf = (lines: string | Uint8Array): string =>
  typeof lines === 'string' ? lines : Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString();

const reading = (file: string, sqlite: Sqlite | undefined): ((job: Job) => unknown) => {
  let opened: { readonly db: Database; readonly answers: Answers; readonly inode: number } | undefined;
  const close = (): void => {
    opened?.db.close();
    opened = undefined;
  };
  /** The file may have been set aside and begun anew. */
  const current = (library: Sqlite): Answers | undefined => {
    const inode = statSync(file, { throwIfNoEntry: false })?.ino;
    if (opened && opened.inode !== inode) close();
    if (opened || inode === undefined) return opened?.answers;
    const db = library.open(file);
    if (prepareToRead(db)) opened = { db, answers: storeAnswers(db), inode };
    else db.close();
    return opened?.answers;
  };
  return (job) => {
    if (!isQuestion(job)) throw new Error(`This thread writes nothing: ${job.name}.`);
    if (!sqlite) throw new Error('No library reads the requests.');
    const answers = job.lines === undefined ? current(sqlite) : undefined;
    if (answers) return answerOf(answers, job.name, job.query);
    const memory = new StoreWriter(sqlite, { file: ':memory:' }, () => undefined);
    try {
      return answerOf(storeAnswers(memory.filled(job.lines ?? '')), job.name, job.query);
    } finally {
      memory.close();
    }
  };
};

const isQuestion = (job: Job): job is Question => {
  switch (job.name) {
    case 'append':
    case 'bound':
    case 'prune':
    case 'clear':
    case 'check':
    case 'close':
      return false;
    default:
      return true;
  }
};

const answerOf = <Name extends keyof Questions>(
  answers: Answers,
  name: Name,
  query: Questions[Name]['query'],
): Questions[Name]['answer'] => answers[name](query);
