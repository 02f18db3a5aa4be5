//! Attributes that stand for several others, which would be repeated at every type, field or
//! function. A crate that uses one has the crates of those others in its manifest.

use proc_macro::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Fields, FnArg, Ident, ImplItem, Item, ItemEnum, ItemStruct, Meta, MetaNameValue,
    Token, Type, Visibility, parse_macro_input, parse_quote,
};

type AttributeArguments = Punctuated<Ident, Token![,]>;

/// Type of the wire. `Clone`, `Debug` and `JsonSchema` are derived, and the arguments: names of
/// further traits, `TS` for the editor's type, which only tests derive, and the casing of names.
///
/// An `Option` that is `None` is left out where the type is sent, and optional in the editor's
/// type. `#[null]` at a field, or `null` as an argument for all fields, sends `null` instead.
#[proc_macro_attribute]
pub fn wire(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(arguments with AttributeArguments::parse_terminated);
    let mut item = parse_macro_input!(item as Item);
    let names = |word: &str| words.iter().any(|it| it == word);
    let mut attributes: Vec<Attribute> =
        vec![parse_quote!(#[derive(Clone, Debug, ::schemars::JsonSchema)])];
    for word in &words {
        attributes.push(match word.to_string().as_str() {
            "null" => continue,
            "TS" => parse_quote!(#[cfg_attr(test, derive(::ts_rs::TS))]),
            "Deserialize" | "Serialize" => parse_quote!(#[derive(::serde::#word)]),
            casing if casing.starts_with(char::is_lowercase) => {
                parse_quote!(#[serde(rename_all = #casing)])
            }
            _ => parse_quote!(#[derive(#word)]),
        });
    }
    if let Item::Struct(ItemStruct { fields: Fields::Named(fields), .. }) = &mut item {
        for field in fields.named.iter_mut().filter(|it| is_named(&it.ty, "Option")) {
            let before = field.attrs.len();
            field.attrs.retain(|it| !it.path().is_ident("null"));
            if names("null") || field.attrs.len() < before {
                continue;
            }
            if names("Serialize") {
                field.attrs.push(parse_quote!(#[serde(skip_serializing_if = "Option::is_none")]));
            }
            if names("TS") {
                field.attrs.push(parse_quote!(#[cfg_attr(test, ts(optional))]));
            }
        }
    }
    quote!(#(#attributes)* #item).into()
}

fn is_named(ty: &Type, name: &str) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == name)
}

/// Enum of names: `as_str` returns that of a variant, in the casing of the arguments, or as
/// `#[name = "…"]` says. The traits of plain values are derived, and those in the arguments; `wire`
/// stands for the types of the wire, under the features for them.
#[proc_macro_attribute]
pub fn names(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(arguments with AttributeArguments::parse_terminated);
    let mut item = parse_macro_input!(item as ItemEnum);
    let (mut attributes, mut casing) = (Vec::<Attribute>::new(), String::new());
    let is_serialized = words.iter().any(|it| it == "Serialize");
    for word in &words {
        match word.to_string().as_str() {
            "wire" => attributes.extend::<[_; 2]>([
                parse_quote!(#[cfg_attr(feature = "wire", derive(::schemars::JsonSchema))]),
                parse_quote!(#[cfg_attr(feature = "typescript", derive(::ts_rs::TS))]),
            ]),
            "Deserialize" | "Serialize" => attributes.push(parse_quote!(#[derive(::serde::#word)])),
            name if name.starts_with(char::is_lowercase) => name.clone_into(&mut casing),
            _ => attributes.push(parse_quote!(#[derive(#word)])),
        }
    }
    if is_serialized {
        attributes.push(parse_quote!(#[serde(rename_all = #casing)]));
    }
    let mut arms = Vec::new();
    for variant in &mut item.variants {
        let ident = variant.ident.clone();
        let stated = variant.attrs.iter().position(|it| it.path().is_ident("name"));
        let name = match stated.map(|at| variant.attrs.remove(at).meta) {
            Some(Meta::NameValue(MetaNameValue { value, .. })) => {
                if is_serialized {
                    variant.attrs.push(parse_quote!(#[serde(rename = #value)]));
                }
                value.into_token_stream()
            }
            _ => in_casing(&ident.to_string(), &casing).into_token_stream(),
        };
        arms.push(quote!(Self::#ident => #name));
    }
    let ident = &item.ident;
    quote! {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #(#attributes)*
        #item

        impl #ident {
            /// Returns the name on the wire and in the store.
            pub fn as_str(self) -> &'static str {
                match self { #(#arms),* }
            }
        }
    }
    .into()
}

fn in_casing(name: &str, casing: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.char_indices() {
        if casing == "snake_case" && at > 0 && c.is_uppercase() {
            out.push('_');
        }
        let is_kept = casing == "camelCase" && at > 0;
        out.push(if is_kept { c } else { c.to_ascii_lowercase() });
    }
    out
}

/// Record that is read from a row by the names of its columns: `FromRow` is derived, and the traits
/// in the arguments. Numbers and JSON are read as the databases write them.
#[proc_macro_attribute]
pub fn record(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let traits = parse_macro_input!(arguments with AttributeArguments::parse_terminated);
    let mut record = parse_macro_input!(item as ItemStruct);
    for field in &mut record.fields {
        let column = match field.ty.to_token_stream().to_string().replace(' ', "").as_str() {
            "u32" | "u64" => "i64",
            "Option<u64>" => "crate::database::columns::OptionalNumber",
            "Value" | "Vec<String>" => "crate::database::columns::JsonColumn",
            _ => continue,
        };
        field.attrs.push(parse_quote!(#[sqlx(try_from = #column)]));
    }
    quote!(#[derive(::sqlx::FromRow, #traits)] #record).into()
}

/// Function, or implementation with public functions, whose futures are boxed. A future without a
/// box is compiled again in every crate that awaits it, with all below it. Functions with an `impl`
/// as an argument are, so they have none.
#[proc_macro_attribute]
pub fn boxed(_: TokenStream, item: TokenStream) -> TokenStream {
    let attribute: Attribute = parse_quote!(#[::async_recursion::async_recursion]);
    let mut item = parse_macro_input!(item as Item);
    match &mut item {
        Item::Impl(implementation) => {
            for item in &mut implementation.items {
                if let ImplItem::Fn(function) = item
                    && function.sig.asyncness.is_some()
                    && !matches!(function.vis, Visibility::Inherited)
                    && !function.sig.inputs.iter().any(is_generic)
                {
                    function.attrs.push(attribute.clone());
                }
            }
        }
        Item::Fn(function) => function.attrs.push(attribute),
        _ => {}
    }
    item.into_token_stream().into()
}

fn is_generic(argument: &FnArg) -> bool {
    matches!(argument, FnArg::Typed(argument) if matches!(*argument.ty, Type::ImplTrait(_)))
}
