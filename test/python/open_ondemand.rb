# SPDX-License-Identifier: GPL-2.0-or-later
# Renders the files of a batch connect app as Open OnDemand's dashboard does: ERB with trim mode "-", fields by name in
# submit.yml.erb, as members of `context` in template/, then YAML.safe_load.
#
# usage: ruby open_ondemand.rb APP < VALUES    VALUES: JSON {field: text}, in the place of the form's own values
#
# Prints JSON: {"form": ..., "submit": ..., "script": ...}.
require "erb"
require "json"
require "ostruct"
require "shellwords"
require "yaml"

app = ARGV.fetch(0)
form = YAML.safe_load(File.read("#{app}/form.yml"))
given = JSON.parse($stdin.read)
unknown = given.keys - form["form"]
abort "no such fields: #{unknown.join(', ')}" unless unknown.empty?
values = form["form"].to_h do |name|
  [name.to_sym, given.fetch(name) { form["attributes"].fetch(name, {})["value"] }.to_s]
end
illegal = OpenStruct.new.methods & values.keys
abort "names that no field may have: #{illegal.join(', ')}" unless illegal.empty?

def render(file, binding)
  ERB.new(File.read(file), trim_mode: "-").result(binding)
end

context = OpenStruct.new(values)
submit = YAML.safe_load(render("#{app}/submit.yml.erb", context.instance_eval { binding }))
puts JSON.generate("form" => form, "submit" => submit, "script" => render("#{app}/template/script.sh.erb", binding))
