import { resolve } from 'node:path';
import { messageOf } from '../model/fault.ts';
import { wordsOf } from '../upstream/keys/command-keys.ts';
import { CommandError } from './cli.ts';

/** Permissions that only the service's command line can give: its configuration can be changed over the network. */
export interface Leave {
  /** Folders that custom transformers may be loaded from. */
  readonly allowTransformerPath?: readonly string[];
  /** Commands that may be run for the keys of providers. */
  readonly allowKeyCommand?: readonly string[];
}

/** The same for the service. Throws a `CommandError` for a command that can't be read. */
export const leaveOf = ({ allowTransformerPath = [], allowKeyCommand = [] }: Leave) => {
  for (const command of allowKeyCommand) {
    try {
      wordsOf(command);
    } catch (error) {
      throw new CommandError(messageOf(error));
    }
  }
  return { transformerFolders: allowTransformerPath.map((folder) => resolve(folder)), keyCommands: allowKeyCommand };
};

/** The same as arguments of `junctor start`. */
export const leaveArguments = (leave: Leave): readonly string[] => {
  const { transformerFolders, keyCommands } = leaveOf(leave);
  return [
    ...transformerFolders.flatMap((folder) => ['--allow-transformer-path', folder]),
    ...keyCommands.flatMap((command) => ['--allow-key-command', command]),
  ];
};
