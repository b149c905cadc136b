import { createContext, useContext } from 'react';
import type { ConfigFile, Finding } from '../api/config.ts';
import type { Transformer } from '../api/transformers.ts';
import { sentence } from './findings.ts';

/** The configuration as it is edited on a page. */
export interface Form {
  /** The draft. */
  readonly config: ConfigFile;
  readonly saved: ConfigFile;
  readonly dirty: boolean;
  readonly change: (change: (config: ConfigFile) => ConfigFile) => void;
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
  /** Those that the gateway knows; none until it has told. */
  readonly transformers: readonly Transformer[];
}

/** Given by `ConfigPage`. */
export const FormContext = createContext<Form | undefined>(undefined);

/** The configuration that the page edits. Only below a `ConfigPage`. */
export const useForm = (): Form => {
  const form = useContext(FormContext);
  if (!form) throw new Error('This part of the page has no configuration around it.');
  return form;
};

/** What a control at a path needs: the mark by which it is found, and what is wrong with its value. */
export const useField = (path: string): { readonly 'data-path': string; readonly error: string | undefined } => {
  const { faults } = useForm();
  const own = faults.find((fault) => fault.path === path);
  return { 'data-path': path, error: own && sentence(own.message) };
};
