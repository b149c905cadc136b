import { createContext, useContext } from 'react';
import type { ConfigFile, Finding } from '../../api/config/config.ts';
import type { Transformer } from '../../api/config/transformers.ts';
import { sentence } from '../../format/figures.ts';

/** The configuration that a page edits. */
export interface Form {
  /** The draft. */
  readonly config: ConfigFile;
  readonly saved: ConfigFile;
  /** For a preset: the configuration whose fields it replaces. */
  readonly inherited?: ConfigFile;
  readonly dirty: boolean;
  readonly change: (change: (config: ConfigFile) => ConfigFile) => void;
  readonly faults: readonly Finding[];
  /** Faults of fields that are still blank, which nobody has seen. */
  readonly unseen: readonly Finding[];
  readonly warnings: readonly Finding[];
  /** All transformers; empty until they are loaded. */
  readonly transformers: readonly Transformer[];
}

/** Provided by `ConfigPage`, and by the form of a preset. */
export const FormContext = createContext<Form | undefined>(undefined);

/** The configuration that the page edits. Only below a `ConfigPage`. */
export const useForm = (): Form => {
  const form = useContext(FormContext);
  if (!form) throw new Error('useForm is used outside a ConfigPage.');
  return form;
};

/** Props for the control at a path: its mark, and what is wrong with its value. */
export const useField = (path: string): { readonly 'data-path': string; readonly error: string | undefined } => {
  const { faults } = useForm();
  const own = faults.find((fault) => fault.path === path);
  return { 'data-path': path, error: own && sentence(own.message) };
};
