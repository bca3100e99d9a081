// SPDX-License-Identifier: GPL-2.0-or-later
// The compiled part of fmt. The SPANK plugin and its forwarder run on all hosts of a cluster, and a
// host without libfmt must load them too. Distributions do not install fmt's src/format.cc; what
// follows repeats its instantiations. Copyright (c) 2012 - present, Victor Zverovich; MIT licence
// (LICENSE.rst of fmt).
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

#if FMT_VERSION >= 90000
template FMT_API auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
#endif

#ifndef FMT_STATIC_THOUSANDS_SEPARATOR
template FMT_API locale_ref::locale_ref(const std::locale& locale);
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
#endif

template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API void buffer<char>::append(const char*, const char*);
#if FMT_VERSION >= 100100
template FMT_API void vformat_to(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#else
template FMT_API void vformat_to(buffer<char>&, string_view,
                                 basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
#endif

}  // namespace detail
FMT_END_NAMESPACE
