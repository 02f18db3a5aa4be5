import hooks from 'eslint-plugin-react-hooks'
import ts from 'typescript-eslint'

// eslint-disable-next-line no-restricted-exports -- ESLint reads the default export
export default ts.config(
  {
    ignores: [
      'dist',
      'node_modules',
      'vectors',
      'e2e',
      'public',
      'src/wire/generated*.ts',
      'src/wire/calls.generated.ts',
    ],
  },
  ...ts.configs.strict,
  {
    plugins: { 'react-hooks': hooks },
    rules: {
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true } }],
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      'max-lines': ['error', { max: 350, skipBlankLines: true, skipComments: true }],
    },
  },
)
