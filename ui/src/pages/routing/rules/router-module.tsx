import { isJsonObject } from '../../../api/json.ts';
import { withMember } from '../../../config/fields/field-path.ts';
import { useField, useForm } from '../../../config/fields/form.ts';
import { SelectField, TextField } from '../../../parts/controls/field.tsx';

type ModuleForm = 'question' | 'messages';

/** The module that is asked before the rules. */
export const RouterModule = () => {
  const { config, change } = useForm();
  const { Router = {} } = config;
  const { module } = Router;
  const isObject = isJsonObject(module);
  const path = typeof module === 'string' ? module : isObject && typeof module.path === 'string' ? module.path : '';
  const form: ModuleForm = isObject && module.form === 'messages' ? 'messages' : 'question';
  const own = useField('Router.module');
  const inner = useField('Router.module.path');
  const set = (nextPath: string, nextForm: ModuleForm): void => {
    const simple = nextPath === '' ? undefined : nextPath;
    const next = nextForm === 'messages' ? { path: nextPath, form: nextForm } : simple;
    change((before) => ({ ...before, Router: withMember(before.Router ?? {}, 'module', next) }));
  };
  return (
    <div className="form-grid">
      <TextField
        label="Router module"
        hint="Asked before the rules. A path in the configuration’s folder, or in a folder passed at startup."
        placeholder="route.ts"
        {...own}
        error={own.error ?? inner.error}
        value={path}
        onChange={(text) => set(text, form)}
      />
      <SelectField
        label="The module takes"
        {...useField('Router.module.form')}
        value={form}
        options={[
          { value: 'question', label: 'The decoded request' },
          { value: 'messages', label: 'A Messages body and the configuration' },
        ]}
        onChange={(picked) => set(path, picked)}
      />
    </div>
  );
};
